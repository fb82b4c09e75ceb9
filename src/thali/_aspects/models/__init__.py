"""The models: what users fit, their engines, and what they answer by."""
