#include "troupe/ops/random/shared/stream.hpp"

#include <charconv>

namespace troupe::ops {

std::string stream_place::text() const { return concat(seed, ' ', seed2, ' ', next); }

result<stream_place> stream_place::parse(std::string_view text) {
  stream_place place;
  const auto* at = text.data();
  const auto* end = at + text.size();
  for (auto* number : {&place.seed, &place.seed2, &place.next}) {
    if (number != &place.seed && (at == end || *at++ != ' '))
      return invalid("a stream of random numbers stands at three numbers, got '", text, "'");
    auto [stop, wrong] = std::from_chars(at, end, *number);
    if (wrong != std::errc{})
      return invalid("a stream of random numbers stands at three numbers, got '", text, "'");
    at = stop;
  }
  if (at != end)
    return invalid("a stream of random numbers stands at three numbers, got '", text, "'");
  return place;
}

stream_place chosen_place(const kernel_setup& setup) {
  auto seed = static_cast<uint64_t>(setup.origin.attr<int64_t>("seed"));
  auto seed2 = static_cast<uint64_t>(setup.origin.attr<int64_t>("seed2"));
  if (seed == 0 && seed2 == 0 && setup.device.deterministic()) {
    // No seed was chosen, and random seeds are not permitted: the node's name determines the seed.
    seed = 0xcbf29ce484222325; // FNV-1a: equal on all machines
    for (unsigned char letter : setup.origin.name())
      seed = (seed ^ letter) * 0x100000001b3;
  } else if (seed == 0 && seed2 == 0) {
    std::random_device device;
    seed = uint64_t{device()} << 32 | device();
    seed2 = uint64_t{device()} << 32 | device();
  }
  return {seed, seed2, 0};
}

result<std::shared_ptr<void>> prepare_stream(const kernel_setup& setup) {
  return std::shared_ptr<void>{std::make_shared<random_stream>(chosen_place(setup))};
}

extern constexpr kernel_state_format stream_position{
    .text =
        [](const void* stream) {
          return static_cast<const random_stream*>(stream)->place().text();
        },
    .set = [](void* stream, std::string_view text) -> status {
      TROUPE_ASSIGN(auto place, stream_place::parse(text));
      static_cast<random_stream*>(stream)->go_to(place);
      return {};
    },
};

} // namespace troupe::ops
