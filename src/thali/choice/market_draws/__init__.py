"""What a fitted model knows of the choices in any market, small enough to be sent as part of a page."""
