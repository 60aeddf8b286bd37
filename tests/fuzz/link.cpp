// Links. The first byte selects a raw stream, or a conversation of well-formed frames around fuzzed
// bodies (kind and transfer u8 each, size u16, body), because checksums would stop all others. Its
// highest bit makes the test write bodies directly into their memory. Kinds from 0xf0 on are other
// events of announced payloads, in any order: steps begin and end, either end withdraws or pulls.
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
  link_options limits;
  limits.self = {.software = "fuzz", .role = "task", .job = "worker"};
  limits.max_tensor_bytes = 1 << 20;
  limits.max_pending_bytes = 1 << 19;
  limits.max_held_bytes = 1 << 18;
  return limits;
}

// Takes the link's output in portions, as a socket that is nearly full.
void answer(troupe::link& tested) {
  std::vector<std::span<const std::byte>> pieces;
  for (size_t size = tested.gather(pieces, 4096); size > 0; size = tested.gather(pieces, 4096)) {
    size_t gathered = 0;
    for (auto piece : pieces)
      gathered += piece.size();
    fuzz::require(gathered == size && size <= 4096);
    tested.sent((size + 1) / 2);
    pieces.clear();
  }
  fuzz::require(tested.idle());
}

// Performs an action on the step, or the payload, that the second byte names.
status act(troupe::link& tested, std::array<fetch_decision, 8>& steps, std::byte action,
           std::byte number_byte) {
  auto number = static_cast<uint64_t>(number_byte);
  step_id step{0, number % 8};
  auto receive_message = [&](const message& received) {
    auto encoded = encode(received);
    fuzz::require(encoded.ok());
    TROUPE_TRY(tested.receive(header_for(frame_kind::message, 0, encoded->bytes)));
    return tested.receive(encoded->bytes);
  };
  static const auto value = *tensor::make(dtype::u8, shape{100'000});
  switch (static_cast<unsigned>(action) % 16) {
    case 0: // a step begins, or ends for good
      if (auto& now = steps[number % 8]; now != fetch_decision::never)
        now = number & 8    ? fetch_decision::never
              : number & 16 ? fetch_decision::later
                            : fetch_decision::now;
      return tested.review(step);
    case 1: return tested.withdraw(step);
    case 2: return receive_message(pull{number});
    case 3: return receive_message(cancel_pull{number});
    case 4: return receive_message(withdrawal{number});
    case 5: { // there is no room, or the peer has sent too many errors
      auto sent = tested.send(tensor_push{step, 1, false, value});
      return sent.kind() == error_kind::resource_exhausted ? status{} : sent;
    }
    case 6: {
      std::vector<std::span<const std::byte>> pieces;
      tested.sent(tested.gather(pieces, 1000 * (number + 1)));
      return {};
    }
    case 8: return receive_message(borrow_request{number});
    case 9: return receive_message(loan{number, 4096});
    case 10: return receive_message(loan_return{number});
    case 11: return tested.read_lent(1000 * number).status();
    default: { // the peer announces a payload of its own with this number
      auto encoded = encode(tensor_push{step, 1, false, value});
      fuzz::require(encoded.ok());
      TROUPE_TRY(tested.receive(header_for(frame_kind::message, number, encoded->bytes)));
      return tested.receive(encoded->bytes);
    }
  }
}

status take(troupe::link& tested, std::span<const std::byte> bytes, bool straight) {
  while (straight && !bytes.empty()) {
    auto gap = tested.receive_space();
    auto size = std::min(gap.size(), bytes.size());
    if (size > 0) {
      std::memcpy(gap.data(), bytes.data(), size);
      TROUPE_TRY(tested.commit(size));
      bytes = bytes.subspan(size);
    }
    size = std::min<size_t>(7, bytes.size());
    TROUPE_TRY(tested.receive(bytes.first(size)));
    bytes = bytes.subspan(size);
  }
  return tested.receive(bytes);
}

} // namespace

FUZZ_TARGET(link) {
  auto bytes = fuzz::bytes(data, size);
  if (bytes.empty())
    return 0;
  auto raw = (bytes[0] & std::byte{0x7f}) == std::byte{0};
  auto straight = (bytes[0] & std::byte{0x80}) != std::byte{0};
  bytes = bytes.subspan(1);
  std::array<fetch_decision, 8> steps{};
  auto lending = options();
  lending.memory_token = std::make_shared<lending_token>();
  troupe::link tested{lending,
                      {.on_hello = {},
                       .on_message = [](message) {},
                       .wanted = [&](step_id step) { return steps[step.sequence % 8]; }}};
  if (raw) {
    (void)take(tested, bytes, straight).ok();
    answer(tested);
    return 0;
  }
  if (!bytes.empty() && (bytes[0] & std::byte{1}) != std::byte{0})
    tested.enable_memory_reads([](std::span<std::byte>, uint64_t) { return status{}; }, 50'000);
  // Introduce the peer, as all other frames require it.
  troupe::link peer{options(), {}};
  std::vector<char> introduction;
  peer.fill(introduction, 4096);
  fuzz::require(tested.receive(std::as_bytes(std::span{introduction})).ok());
  while (bytes.size() >= 4) {
    if (bytes[0] >= std::byte{0xf0}) {
      if (!act(tested, steps, bytes[0], bytes[1]).ok())
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
    if (!take(tested, header_for(kind, transfer, body), straight).ok() ||
        !take(tested, body, straight).ok())
      break;
    fuzz::require(tested.pending_bytes() <= (1 << 20) + (1 << 19) + (1 << 18));
  }
  answer(tested);
  return 0;
}

} // namespace troupe::fuzz::link
