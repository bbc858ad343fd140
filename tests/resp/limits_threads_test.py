#!/usr/bin/env python3
"""The limits of resp_server with several threads."""

import unittest

import limits_test


class LimitsOfShards(limits_test.Limits):
    options = ("--threads", "3", "--accept", "one_acceptor")  # every loop gets connections

    # Each loop enforces a third of --maxmemory-clients, which is less than one client of these needs.
    test_a_client_that_holds_most_leaves_for_one_that_needs_less = None
    test_requests_that_do_not_end_stay_within_the_limits = None
    test_names_of_clients_count = None
    test_buffers_count_for_maxmemory_as_in_redis = None

    # Counts turns of the loop, which shares a core with the other busy loops.
    test_other_clients_are_served_while_hostile_patterns_are_matched = None


if __name__ == "__main__":
    unittest.main()
