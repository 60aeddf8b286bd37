// Commands print through a buffer that lets nothing steer a terminal.
#include "troupe/api/cli/safe_output.hpp"

#include "tests/support/catch.hpp"

#include <sstream>

namespace troupe::test::safe_output_test {

TEST_CASE("a stream that prints safely escapes what terminals obey, and keeps lines and letters") {
  std::ostringstream out;
  {
    cli::safe_output safe{out};
    out << "plain " << 7 << "\tZürich\n"
        << "\x1b[31mred" << '\a' << std::flush;
    CHECK(out.str() == "plain 7\tZürich\n\\x1b[31mred\\x07");
  }
  out << "\x1b";
  CHECK(out.str().ends_with("\x1b")); // it is over
}

TEST_CASE("characters that come byte by byte are put together, and what has no end is escaped") {
  std::ostringstream out;
  {
    cli::safe_output safe{out};
    for (char each : std::string{"\xc3\xbc\xe2\x80\xae\xf0\x9f\x91\xa9"})
      out.put(each);
    out << "\xe2\x80";
    CHECK(out.str() == "\xc3\xbc\\xe2\\x80\\xae\xf0\x9f\x91\xa9");
  }
  CHECK(out.str() == "\xc3\xbc\\xe2\\x80\\xae\xf0\x9f\x91\xa9\\xe2\\x80");
}

TEST_CASE("only the command itself clears the screen") {
  std::ostringstream out;
  {
    cli::safe_output safe{out};
    cli::clear_screen(out) << "\x1b[H";
  }
  CHECK(out.str() == "\x1b[H\x1b[J\\x1b[H");
}

} // namespace troupe::test::safe_output_test
