"""Everything that touches files, sockets, screens or learners. The core never imports it."""
