"""Commands about confirmed knowledge and memories."""
