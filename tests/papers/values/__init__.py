"""Values of every formula of the papers, typed a second time and kept apart from the statements."""
