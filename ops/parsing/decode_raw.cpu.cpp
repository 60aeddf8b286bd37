#include "troupe/ops/kernel/cached_attr.hpp"

#include <algorithm>
#include <cstring>

namespace troupe::ops::decode_raw_cpu {
namespace {

static_assert(std::endian::native == std::endian::little);

// Reverses the bytes of each element; a complex number consists of two.
void reverse_bytes(char* bytes, int64_t count, size_t size) {
  for (int64_t i = 0; i < count; ++i, bytes += size)
    std::reverse(bytes, bytes + size);
}

status run(kernel_context& at) {
  const auto& input = at.input(0);
  auto type = at.output_type(0);
  auto size = size_of(type);
  auto texts = input.values<std::string>();
  auto length = texts.empty() ? 0 : texts.front().size();
  for (const auto& text : texts)
    if (text.size() != length)
      return invalid("all strings must have one length, got ", length, " and ", text.size());
  if (length % size != 0)
    return invalid(length, " bytes are no multiple of the ", size, " of ", type);
  std::vector<int64_t> extents{input.dims().begin(), input.dims().end()};
  extents.push_back(static_cast<int64_t>(length / size));
  TROUPE_ASSIGN(auto dims, shape::make(extents));
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  auto* to = static_cast<char*>(out->raw());
  auto part = size_of(type) / (complex_types.contains(type) ? 2 : 1);
  auto turn = !at.state<bool>() && part > 1;
  at.parallel_for(input.elements(), 10 + 0.1 * static_cast<double>(length),
                  [&](int64_t begin, int64_t end) {
                    for (auto i = begin; i < end && length > 0; ++i) {
                      auto* row = to + static_cast<size_t>(i) * length;
                      std::memcpy(row, texts[static_cast<size_t>(i)].data(), length);
                      if (turn)
                        reverse_bytes(row, static_cast<int64_t>(length / part), part);
                      if (type == dtype::boolean) // other byte values are not valid truth values
                        std::transform(row, row + length, row, [](char c) { return c != 0; });
                    }
                  });
  return {};
}

} // namespace

extern constexpr kernel_def decode_raw_cpu{
    .op = "DecodeRaw",
    .run = {{dtype::none, run}},
    .prepare = cache_attr<bool, "little_endian">,
};

} // namespace troupe::ops::decode_raw_cpu
