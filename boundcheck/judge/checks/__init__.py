"""Named checks of an implementation, each on a fixed instance of its own."""
