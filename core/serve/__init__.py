"""Starting the app as one process or several."""
