// Links. The first byte chooses: a raw stream, or a conversation of frames that are well-formed
// around fuzzed bodies (kind and transfer u8 each, size u16, body), because checksums would stop
// all others.
#include "troupe/serialization/wire/link.hpp"

#include "tests/fuzz/fuzz.hpp"
#include "troupe/serialization/wire/frame.hpp"

#include <vector>

namespace troupe::fuzz::link {

namespace {

link_options options() {
  link_options made;
  made.self = {.software = "fuzz", .role = "task", .job = "worker"};
  made.max_tensor_bytes = 1 << 20;
  made.max_pending_bytes = 1 << 19;
  made.max_held_bytes = 1 << 18;
  return made;
}

void answer(troupe::link& it) {
  std::vector<char> out;
  while (it.fill(out, 4096) > 0)
    out.clear();
}

} // namespace

FUZZ_TARGET(link) {
  auto bytes = fuzz::bytes(data, size);
  if (bytes.empty())
    return 0;
  auto raw = bytes[0] == std::byte{0};
  bytes = bytes.subspan(1);
  troupe::link it{options(), {.on_hello = {}, .on_message = [](message) {}}};
  if (raw) {
    (void)it.receive(bytes).ok();
    answer(it);
    return 0;
  }
  // Introduce the peer, as everything else needs that.
  troupe::link peer{options(), {}};
  std::vector<char> introduction;
  peer.fill(introduction, 4096);
  fuzz::require(it.receive(std::as_bytes(std::span{introduction})).ok());
  while (bytes.size() >= 4) {
    auto kind = static_cast<frame_kind>(1 + static_cast<int>(bytes[0]) % 2);
    auto transfer = static_cast<uint64_t>(bytes[1]);
    auto length = static_cast<size_t>(bytes[2]) | static_cast<size_t>(bytes[3]) << 8;
    bytes = bytes.subspan(4);
    auto body = bytes.first(std::min(length, bytes.size()));
    bytes = bytes.subspan(body.size());
    if (!it.receive(header_for(kind, transfer, body)).ok() || !it.receive(body).ok())
      break;
    fuzz::require(it.pending_bytes() <= (1 << 20) + (1 << 19) + (1 << 18));
  }
  answer(it);
  return 0;
}

} // namespace troupe::fuzz::link
