"""The command lines of the programs: help whatever else is wrong, and messages that name the option and its source."""

import os
import subprocess
import tempfile
import unittest

from support import BIN, Serve, ask


def told(*command, **environment):
    """Returns (exit code, standard output, standard error)."""
    done = subprocess.run([str(BIN / command[0]), *map(str, command[1:])], capture_output=True, text=True, timeout=20,
                          env={**os.environ, **environment})
    return done.returncode, done.stdout, done.stderr


class CommandLine(unittest.TestCase):
    def refused(self, *command, **environment):
        code, output, message = told(*command, **environment)
        self.assertEqual((code, output), (2, ""), message)
        return message

    def test_help_and_versions_do_not_depend_on_other_values(self):
        for wrong in ({"GYRE_THREADS": "x"}, {"GYRE_LISTEN": "nowhere"}, {"GYRE_ALLOW_HOST": ","}):
            code, output, message = told("gyre", "serve", "--help", **wrong)
            self.assertEqual((code, message, "Usage: gyre serve" in output), (0, "", True), wrong)
        for wrong in (["--threads", "x"], ["--no-such-option"], ["/no/such/directory"]):
            for order in ([*wrong, "--help"], ["--help", *wrong]):
                self.assertEqual(told("gyre", "serve", *order)[::2], (0, ""), order)
        self.assertIn("Usage: gyre proxy", told("gyre", "proxy", "--help", GYRE_DRAIN="x")[1])
        self.assertIn("Usage: echo_server", told("echo_server", "--threads", "x", "--help")[1])
        self.assertEqual(told("gyre", "serve", "--version", GYRE_THREADS="x"), told("gyre", "serve", "--version"))
        for name in ("serve", "proxy", "fetch", "load"):
            code, output, message = told("gyre", name, "--version")
            self.assertEqual((code, message), (0, ""))
            self.assertRegex(output, rf"^gyre {name} \d+\.\d+\.\d+\n$")

    def test_a_variable_is_blamed_only_for_its_own_value(self):
        for option, variable, value in (("--threads", "GYRE_THREADS", "x"), ("--header", "GYRE_HEADER", "a b"),
                                        ("--listing", "GYRE_LISTING", "perhaps"), ("--drain", "GYRE_DRAIN", "-1"),
                                        ("--allow-host", "GYRE_ALLOW_HOST", ",")):
            message = self.refused("gyre", "serve", **{variable: value})
            self.assertIn(option, message)
            self.assertIn(f"The value comes from {variable} in the environment.\n", message)
        for arguments, variable, value in ((["--no-listing=x"], "GYRE_LISTING", "1"),
                                           (["--threads2"], "GYRE_THREADS", "1"),
                                           (["--listen=--admin"], "GYRE_ADMIN", "127.0.0.1:0"),
                                           (["--threads", "x"], "GYRE_THREADS", "y"),
                                           (["--header", "--cors"], "GYRE_CORS", "*")):
            self.assertNotIn("environment", self.refused("gyre", "serve", *arguments, **{variable: value}), arguments)

    def test_values_that_no_response_could_have_are_refused_with_the_name_of_their_flag(self):
        for flag, value in (("--header", "a b: c"), ("--header", "Content-Length: 5"), ("--header", "A: b\x01"),
                            ("--header", ": b"), ("--cache-control", "a\nb"), ("--cors", "a b"), ("--cors", ""),
                            ("--cors", "https://a.b/c"), ("--index", "a/b")):
            message = self.refused("gyre", "serve", flag, value)
            self.assertTrue(message.startswith(f"{flag}: "), message)

    def test_a_list_without_a_value_takes_no_other_argument_for_one(self):
        for flag in ("--allow-host", "--cors", "--tls-cert"):
            for value in (",", ",,", ""):
                message = self.refused("gyre", "serve", flag, value, "/tmp")
                self.assertTrue(message.startswith(f'{flag}: expected a value, got "{value}"\n'), message)

    def test_lists_are_separated_and_repeated(self):
        with tempfile.TemporaryDirectory() as root:
            with Serve(root, "--cors", "https://a.test,https://b.test", "--cors", "https://c.test,", "--header",
                       "X-A: 1,2\nX-B: 3", "--header", "X-C: 4") as server:
                for origin in ("https://a.test", "https://b.test", "https://c.test"):
                    fields = ask(server.port, headers={"Origin": origin})[1]
                    self.assertEqual(fields["access-control-allow-origin"], origin)
                self.assertEqual([fields[name] for name in ("x-a", "x-b", "x-c")], ["1,2", "3", "4"])

    def test_numbers_are_whole_and_in_their_range(self):
        for command, least, most in ((("gyre", "serve", "--threads"), 0, 1024),
                                     (("echo_client", "--connections"), 1, 100_000),
                                     (("gyre", "proxy", "--to", "http://a", "--retries"), 0, 100)):
            for value in ("", "-1", "x", "1x", " 1", "0x1", "1.5", "nan", str(most + 1), "99999999999999999999"):
                message = self.refused(*command, value)
                self.assertTrue(message.startswith(f"{command[-1]}: expected a whole number from {least} to {most}, "
                                                   f'got "{value}"\n'), message)
        for value in ("", "-1", "0", "x"):
            message = self.refused("echo_client", "--messages", value)
            self.assertTrue(message.startswith("--messages: expected a whole number, at least 1, got "), message)
        for value in ("", "-1", "0", "nan", "inf"):
            message = self.refused("echo_client", "--timeout", value)
            self.assertTrue(message.startswith("--timeout: expected seconds, from 0.001 to 1000000, got "), message)

    def test_a_reader_that_has_seen_enough_of_the_help_gets_no_message(self):
        for command in (("gyre", "serve", "--help"), ("gyre", "doctor")):
            reader, writer = os.pipe()
            os.close(reader)
            with open(writer, "w") as output:
                done = subprocess.run([str(BIN / command[0]), *command[1:]], stdout=output, stderr=subprocess.PIPE,
                                      timeout=20)
            self.assertEqual((done.returncode, done.stderr), (1, b""), command)


if __name__ == "__main__":
    unittest.main()
