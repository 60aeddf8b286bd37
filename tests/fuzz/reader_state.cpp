// Any bytes as the state of a reader: refused, or kept as they are understood, and read on from.
#include "tests/fuzz/fuzz.hpp"
#include "tests/support/reader_world.hpp"

namespace troupe::fuzz::reader_state {

FUZZ_TARGET(reader_state) {
  for (auto format : {record_format::line, record_format::fixed, record_format::tfrecord,
                      record_format::whole, record_format::none}) {
    test::reader_world world{{.format = format, .record_bytes = 3, .hop_bytes = 2}};
    world.disk.put("a", "one\ntwo\nthree\n");
    world.end_of_data();
    std::string_view bytes{reinterpret_cast<const char*>(data), size};
    if (!world.reader.restore(bytes, world.done))
      continue;
    auto state = world.reader.state();
    fuzz::require(state.ok());
    test::reader_world other{{.format = format}};
    fuzz::require(other.reader.restore(*state, other.done).ok());
    auto again = other.reader.state();
    fuzz::require(again.ok() && *again == *state);
    for (int i = 0; i < 8; ++i)
      fuzz::require(world.read() != "waits");
  }
  return 0;
}

} // namespace troupe::fuzz::reader_state
