"""The network, guarded: addresses, robots.txt, redirects, sizes, times; and the browser."""
