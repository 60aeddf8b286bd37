// Commands print through a buffer that escapes terminal control sequences.
#include "troupe/api/cli/safe_output.hpp"

#include "tests/support/catch.hpp"

#include <sstream>

namespace troupe::test::safe_output_test {

TEST_CASE("a safe output stream escapes control characters, and keeps lines and letters") {
  std::ostringstream output;
  {
    cli::safe_output safe{output};
    output << "plain " << 7 << "\tZürich\n"
           << "\x1b[31mred" << '\a' << std::flush;
    CHECK(output.str() == "plain 7\tZürich\n\\x1b[31mred\\x07");
  }
  output << "\x1b";
  CHECK(output.str().ends_with("\x1b")); // the buffer is gone
}

TEST_CASE("characters that arrive byte by byte are joined, and incomplete ones are escaped") {
  std::ostringstream output;
  {
    cli::safe_output safe{output};
    for (char character : std::string{"\xc3\xbc\xe2\x80\xae\xf0\x9f\x91\xa9"})
      output.put(character);
    output << "\xe2\x80";
    CHECK(output.str() == "\xc3\xbc\\xe2\\x80\\xae\xf0\x9f\x91\xa9");
  }
  CHECK(output.str() == "\xc3\xbc\\xe2\\x80\\xae\xf0\x9f\x91\xa9\\xe2\\x80");
}

TEST_CASE("only the command itself clears the screen") {
  std::ostringstream output;
  {
    cli::safe_output safe{output};
    cli::clear_screen(output) << "\x1b[H";
  }
  CHECK(output.str() == "\x1b[H\x1b[J\\x1b[H");
}

} // namespace troupe::test::safe_output_test
