"""What a method on a problem is known to have: its constants, hypotheses and metrics."""

from boundcheck.setting.setting import Setting as Setting
