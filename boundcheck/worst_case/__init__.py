"""Worst cases of a method over all instances: a certified upper value, an instance that attains a lower one."""
