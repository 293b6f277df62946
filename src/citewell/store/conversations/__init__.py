"""What people do with their conversations: folders they stand in, links by which others read."""
