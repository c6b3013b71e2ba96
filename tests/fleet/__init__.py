"""The service on a Ray cluster; `make test-fleet`."""

import pytest

pytest.register_assert_rewrite("tests.fleet.cluster")
