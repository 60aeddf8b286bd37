// Any bytes as the state of a reader are refused, or kept as they were understood, and reading
// continues.
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
    test::reader_world restored{{.format = format}};
    fuzz::require(restored.reader.restore(*state, restored.done).ok());
    auto restored_state = restored.reader.state();
    fuzz::require(restored_state.ok() && *restored_state == *state);
    for (int i = 0; i < 8; ++i)
      fuzz::require(world.read() != "waits");
  }
  return 0;
}

} // namespace troupe::fuzz::reader_state
