// Printed names and texts of other processes cannot control a terminal or forge a line.
#include "troupe/runtime/types/printable.hpp"

#include "tests/support/catch.hpp"
#include "troupe/api/cli/top/cluster_frame.hpp"
#include "troupe/api/cli/top/wait_report.hpp"
#include "troupe/runtime/graph/graph.hpp"
#include "troupe/runtime/insight/log_event.hpp"
#include "troupe/runtime/insight/metrics_text.hpp"
#include "troupe/runtime/types/tensor.hpp"

#include <algorithm>

namespace troupe::test::printable_test {

namespace {

using namespace std::string_literals;

// Red, a bell, the end of a string, reversed direction, a control character of Latin 1, and a byte
// that is not UTF-8.
const std::string hostile = "a\"\\'\x1b[31mred\a\0 \xe2\x80\xae\xc2\x9b"
                            "2J\xff\r\n> end"s;

bool is_harmless(std::string_view text, bool lines = false) {
  return std::ranges::none_of(text,
                              [&](char c) {
                                auto byte = static_cast<unsigned char>(c);
                                return (byte < 0x20 && !(lines && c == '\n')) || byte == 0x7f ||
                                       byte == 0xff;
                              }) &&
         text.find("\xe2\x80\xae") == text.npos && text.find("\xc2\x9b") == text.npos;
}

} // namespace

TEST_CASE("unprintable characters are escaped, and letters of all scripts are kept") {
  for (const auto* readable :
       {"", "plain text", "Zürich, Ελλάδα, 東京, עברית, العربية", "a\\b 'c' \"d\"",
        "\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x94\xac" /* joined emoji */})
    CHECK(printable(readable) == readable);
  CHECK(printable("a\tb\nc\rd") == "a\\tb\\nc\\rd");
  CHECK(printable_lines("a\tb\nc\rd") == "a\tb\nc\\rd");
  CHECK(printable("\x1b[31m"s) == "\\x1b[31m");
  CHECK(printable("\0\x7f"s) == "\\x00\\x7f");
  CHECK(printable("\xc2\x9b") == "\\xc2\\x9b");          // a control sequence in one character
  CHECK(printable("\xe2\x80\xae") == "\\xe2\\x80\\xae"); // text from right to left
  CHECK(printable("\xe2\x81\xa6") == "\\xe2\\x81\\xa6");
  CHECK(printable("\xe2\x80\xa8") == "\\xe2\\x80\\xa8"); // the end of a line
  for (const auto* invalid_text :
       {"\xff", "\xc3", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\x80", "\xe2\x80"})
    CHECK(is_harmless(printable(invalid_text)));
  CHECK(printable("\xc3") == "\\xc3");
  CHECK(printable("\xc3x") == "\\xc3x");
  CHECK(is_harmless(printable(hostile)));
  CHECK(in_quotes("a\"b\\c'\n") == R"("a\"b\\c'\n")");
  CHECK(in_quotes("a\"b'", '\'') == R"('a"b\'')");
  CHECK(printable_json("{\"a\": \"\xc2\x9b \xe2\x80\xae \xf3\xa0\x80\x81 \xff \xc3\xbc\"}\n") ==
        "{\"a\": \"\\u009b \\u202e \\udb40\\udc01 \\ufffd \xc3\xbc\"}\n");
  CHECK(incomplete_tail("abc") == 0);
  CHECK(incomplete_tail("ab\xc3") == 1);
  CHECK(incomplete_tail("ab\xe2\x80") == 2);
  CHECK(incomplete_tail("ab\xf0\x9f\x91") == 3);
  CHECK(incomplete_tail("\xe2\x80\xae") == 0);
  CHECK(incomplete_tail("\x80\x80\x80") == 0);
}

TEST_CASE("strings in tensors and attributes are printed in quotes, with escapes") {
  auto text = tensor::from_values<std::string>({2}, {hostile, "Zürich"});
  CHECK(is_harmless(to_string(text)));
  CHECK(to_string(tensor::scalar<std::string>("a\"\x1b")) == R"(string[] {"a\"\x1b"})");
  CHECK_THAT(to_string(text), Catch::Contains("Zürich"));
  CHECK(is_harmless(concat(attr_value{hostile})));
  CHECK(is_harmless(concat(attr_value{std::vector<std::string>{hostile}})));
  CHECK(is_harmless(concat(attr_value{text})));
}

TEST_CASE("errors contain no terminal control characters") {
  CHECK(is_harmless(invalid("no node '", hostile, "'").message()));
  CHECK(invalid("no node '", "a\nb'"s, "'", ", did you mean 'ab'"s).message() ==
        R"(no node 'a\nb\'', did you mean 'ab')");
  CHECK(invalid("'", "x\n"s, '\'', " isn't '", "y\n"s, "'").message() == R"('x\n' isn't 'y\n')");
  CHECK(invalid("lines:\n  ", "a"s, "\n  b").message() == "lines:\n  a\n  b");
  CHECK(is_harmless(invalid("unquoted ", hostile).message(), true));
  CHECK(is_harmless(status{error_kind::internal, hostile}.message(), true));
  CHECK(is_harmless(invalid("text").with_context(hostile).message(), true));
  CHECK(is_harmless(invalid("text").with_suffix(hostile).message(), true));
}

TEST_CASE("logs, metrics and tables of a cluster show one line per entry, for any name") {
  log_event event{.level = log_level::info,
                  .time = {},
                  .task = "/job:" + hostile,
                  .event = "link_lost",
                  .fields = {{"why", hostile}, {"peer", "plain"s}}};
  CHECK(is_harmless(to_line(event)));
  CHECK_THAT(to_line(event), Catch::Contains("peer=plain"));

  metrics_text metrics;
  metrics.family("bytes", metrics_text::type::gauge, "Bytes.");
  metrics.sample(1, {{"task", hostile}});
  auto text = metrics.take();
  CHECK(is_harmless(text, true));
  CHECK(std::ranges::count(text, '\n') == 3);

  cluster_frame frame;
  frame.tasks.push_back({.task = hostile, .problem = hostile});
  frame.queues.push_back({.task = hostile, .name = hostile});
  frame.sessions.push_back({.task = hostile, .client = hostile});
  frame.links.push_back({.task = hostile, .peer = hostile});
  CHECK(is_harmless(print(frame, 10), true));
  CHECK(std::ranges::count(print(frame, 10), '\n') == std::ranges::count(print({}, 10), '\n') + 10);

  cluster_wait wait;
  wait.step = wait.task = wait.wait_kind = wait.node = wait.target = wait.detail = hostile;
  auto waits = print_waits({wait}, 10);
  CHECK(is_harmless(waits, true));
  CHECK(std::ranges::count(waits, '\n') == 4);
}

} // namespace troupe::test::printable_test
