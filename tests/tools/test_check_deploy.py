#!/usr/bin/env python3
"""What the check of deploy/ must see: each fact turned wrong once."""
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import check_deploy  # noqa: E402
from check_deploy import Problems, read  # noqa: E402

LIMIT = check_deploy.limits(read("common/limits.h"))
ROUTES = check_deploy.open_routes(read("level2-operator/server/http_route.c"))


def problems_of(check, path, *more, old="", new=""):
    text, p = read(path), Problems()
    assert old in text, old
    check(p, text.replace(old, new) if old else text, *more)
    return p


class Facts(unittest.TestCase):
    def test_the_limits_are_read_as_the_compiler_reads_them(self):
        self.assertEqual((LIMIT["LIMIT_BODY_BYTES"], LIMIT["LIMIT_HEADER_BYTES"], LIMIT["LIMIT_DRAIN_S"]),
                         (8 << 20, 32 << 10, 30))

    def test_a_probe_may_ask_what_needs_no_key(self):
        self.assertLessEqual({"/health", "/ready"}, ROUTES)
        self.assertTrue(ROUTES.isdisjoint({"/metrics", "/v1/completions", "/admin/models"}))

    def test_times_have_units(self):
        self.assertEqual([check_deploy.seconds(t) for t in ("200ms", "30s", "10m", "50")], [0.2, 30, 600, 0.05])


class HaproxyConfiguration(unittest.TestCase):
    def seen(self, old, new):
        return problems_of(check_deploy.check_haproxy, "deploy/haproxy.cfg", LIMIT, ROUTES, old=old, new=new)

    def test_ours_is_in_order(self):
        self.assertEqual(self.seen("", ""), [])

    def test_each_wrong_fact_is_one_problem(self):
        for old, new in (("tune.bufsize 8454144", "tune.bufsize 16384"), ("uri /ready", "uri /health"),
                         ("uri /ready", "uri /raedy"), ("maxconn 256", "maxconn 2048"),
                         ("http-keep-alive 50s", "http-keep-alive 5m"), ("timeout server 11m", "timeout server 10m"),
                         ("timeout client 11m", "timeout client 600s"), ("hard-stop-after 60s", "hard-stop-after 30s"),
                         ("path_beg /admin/", "path_beg /nothing/"), ("rise 1\n", "rise 1 on-marked-down shutdown-sessions\n")):
            self.assertEqual(len(self.seen(old, new)), 1, f"{new}: {self.seen(old, new)}")

    def test_what_stands_in_a_comment_does_not_count(self):
        with self.assertRaises(SystemExit):
            self.seen("    tune.bufsize", "    # tune.bufsize")


class Unit(unittest.TestCase):
    def seen(self, old, new):
        return problems_of(check_deploy.check_unit, check_deploy.UNIT, LIMIT, old=old, new=new)

    def test_ours_is_in_order(self):
        self.assertEqual(self.seen("", ""), [])

    def test_each_wrong_fact_is_one_problem(self):
        for old, new in (("TimeoutStopSec=45", "TimeoutStopSec=30"), ("--drain-seconds 30", "--drain-seconds 90"),
                         ("WatchdogSec=60", "WatchdogSec=10"), ("LimitNOFILE=4096", "LimitNOFILE=1024"),
                         ("Type=notify", "Type=simple"), ("Restart=on-failure", "Restart=no")):
            self.assertEqual(len(self.seen(old, new)), 1, f"{new}: {self.seen(old, new)}")


class Manifest(unittest.TestCase):
    def seen(self, old, new):
        return problems_of(check_deploy.check_kubernetes, "deploy/kubernetes.yaml", ROUTES, old=old, new=new)

    def test_ours_is_in_order(self):
        self.assertEqual(self.seen("", ""), [])

    def test_each_wrong_fact_is_a_problem(self):
        for old, new in (("{path: /health,", "{path: /ready,"), ("{path: /ready,", "{path: /readyz,"),
                         ("PeriodSeconds: 45", "PeriodSeconds: 35"), ('[sleep, "5"]', '[sleep, "15"]'),
                         ('--drain-seconds, "30"', '--drain-seconds, "40"'), ("containerPort: 8080", "containerPort: 80"),
                         ("spec:\n  replicas", "spec:\n\treplicas")):
            self.assertTrue(self.seen(old, new), new)


if __name__ == "__main__":
    unittest.main()
