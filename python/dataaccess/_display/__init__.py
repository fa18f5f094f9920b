"""How results look: text for terminals, HTML for notebooks. Imports nothing else of this package."""
