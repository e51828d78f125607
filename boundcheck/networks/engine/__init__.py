"""The engine that trains all clients of a round, and all seeds, at once in batched torch layers."""
