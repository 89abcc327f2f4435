"""The wires, their transport and their errors."""
