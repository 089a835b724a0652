"""Handlers of syntax forms: each yields the facts about one form."""
