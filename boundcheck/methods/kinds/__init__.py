"""The kinds of methods, one file a paper or family, each with a table `KINDS` from names to kinds."""
