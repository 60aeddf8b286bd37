// Links. The first byte chooses: a raw stream, or a conversation of frames that are well-formed
// around fuzzed bodies (kind and transfer u8 each, size u16, body), because checksums would stop
// all others. With its highest bit, what belongs to a body is put where it belongs. Kinds from 0xf0
// on are what else may happen to announced payloads, in any order: steps begin and end, either end
// withdraws or pulls.
#include "troupe/serialization/wire/link.hpp"

#include "tests/fuzz/fuzz.hpp"
#include "troupe/serialization/wire/frame.hpp"

#include <algorithm>
#include <array>
#include <cstring>
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

// Takes what it has to say in portions, as a socket does that is nearly full.
void answer(troupe::link& it) {
  std::vector<std::span<const std::byte>> pieces;
  for (size_t size = it.gather(pieces, 4096); size > 0; size = it.gather(pieces, 4096)) {
    size_t given = 0;
    for (auto piece : pieces)
      given += piece.size();
    fuzz::require(given == size && size <= 4096);
    it.sent((size + 1) / 2);
    pieces.clear();
  }
  fuzz::require(it.idle());
}

// Of the step that the second byte names, or the payload.
status act(troupe::link& it, std::array<demand, 8>& steps, std::byte what, std::byte of) {
  auto number = static_cast<uint64_t>(of);
  step_id step{0, number % 8};
  auto hear = [&](const message& said) {
    auto encoded = encode(said);
    fuzz::require(encoded.ok());
    TROUPE_TRY(it.receive(header_for(frame_kind::message, 0, encoded->bytes)));
    return it.receive(encoded->bytes);
  };
  static const auto value = *tensor::make(dtype::u8, shape{100'000});
  switch (static_cast<unsigned>(what) % 16) {
    case 0: // what it is told of a step: begins, and ends for good
      if (auto& now = steps[number % 8]; now != demand::never)
        now = number & 8 ? demand::never : number & 16 ? demand::later : demand::now;
      return it.review(step);
    case 1: return it.withdraw(step);
    case 2: return hear(pull{number});
    case 3: return hear(unwanted{number});
    case 4: return hear(withdrawn{number});
    case 5: { // or it has no room, or the peer has been too bad
      auto sent = it.send(tensor_push{step, 1, false, value});
      return sent.kind() == error_kind::resource_exhausted ? status{} : sent;
    }
    case 6: {
      std::vector<std::span<const std::byte>> pieces;
      it.sent(it.gather(pieces, 1000 * (number + 1)));
      return {};
    }
    case 8: return hear(borrow{number});
    case 9: return hear(lent{number, 4096});
    case 10: return hear(returned{number});
    case 11: return it.read_lent(1000 * number).status();
    default: { // it is announced a payload of its own, with that number
      auto encoded = encode(tensor_push{step, 1, false, value});
      fuzz::require(encoded.ok());
      TROUPE_TRY(it.receive(header_for(frame_kind::message, number, encoded->bytes)));
      return it.receive(encoded->bytes);
    }
  }
}

status take(troupe::link& it, std::span<const std::byte> bytes, bool straight) {
  while (straight && !bytes.empty()) {
    auto gap = it.gap();
    auto size = std::min(gap.size(), bytes.size());
    if (size > 0) {
      std::memcpy(gap.data(), bytes.data(), size);
      TROUPE_TRY(it.filled(size));
      bytes = bytes.subspan(size);
    }
    size = std::min<size_t>(7, bytes.size());
    TROUPE_TRY(it.receive(bytes.first(size)));
    bytes = bytes.subspan(size);
  }
  return it.receive(bytes);
}

} // namespace

FUZZ_TARGET(link) {
  auto bytes = fuzz::bytes(data, size);
  if (bytes.empty())
    return 0;
  auto raw = (bytes[0] & std::byte{0x7f}) == std::byte{0};
  auto straight = (bytes[0] & std::byte{0x80}) != std::byte{0};
  bytes = bytes.subspan(1);
  std::array<demand, 8> steps{};
  auto lending = options();
  lending.lends = std::make_shared<lending_token>();
  troupe::link it{lending,
                  {.on_hello = {},
                   .on_message = [](message) {},
                   .wanted = [&](step_id step) { return steps[step.sequence % 8]; }}};
  if (raw) {
    (void)take(it, bytes, straight).ok();
    answer(it);
    return 0;
  }
  if (!bytes.empty() && (bytes[0] & std::byte{1}) != std::byte{0})
    it.read_near([](std::span<std::byte>, uint64_t) { return status{}; }, 50'000);
  // Introduce the peer, as everything else needs that.
  troupe::link peer{options(), {}};
  std::vector<char> introduction;
  peer.fill(introduction, 4096);
  fuzz::require(it.receive(std::as_bytes(std::span{introduction})).ok());
  while (bytes.size() >= 4) {
    if (bytes[0] >= std::byte{0xf0}) {
      if (!act(it, steps, bytes[0], bytes[1]).ok())
        break;
      bytes = bytes.subspan(2);
      continue;
    }
    auto kind = static_cast<frame_kind>(1 + static_cast<int>(bytes[0]) % 2);
    auto transfer = static_cast<uint64_t>(bytes[1]);
    auto length = static_cast<size_t>(bytes[2]) | static_cast<size_t>(bytes[3]) << 8;
    bytes = bytes.subspan(4);
    auto body = bytes.first(std::min(length, bytes.size()));
    bytes = bytes.subspan(body.size());
    if (!take(it, header_for(kind, transfer, body), straight).ok() ||
        !take(it, body, straight).ok())
      break;
    fuzz::require(it.pending_bytes() <= (1 << 20) + (1 << 19) + (1 << 18));
  }
  answer(it);
  return 0;
}

} // namespace troupe::fuzz::link
