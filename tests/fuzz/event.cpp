// Events: accepted events can be written and read again; and heads of PNG files.
#include "tests/fuzz/fuzz.hpp"
#include "troupe/serialization/events/event_file.hpp"

namespace troupe::fuzz::event {

FUZZ_TARGET(event) {
  std::string text{reinterpret_cast<const char*>(data), size};
  (void)parse_png_header(text);
  if (auto read = parse_event(text)) {
    auto bytes = write_event(*read);
    auto copy = parse_event(bytes);
    fuzz::require(copy.ok() && write_event(*copy) == bytes); // NaN is not equal to itself
  }
  return 0;
}

} // namespace troupe::fuzz::event
