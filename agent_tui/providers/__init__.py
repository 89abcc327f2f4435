"""The wires: how each kind of server is asked and answers."""
