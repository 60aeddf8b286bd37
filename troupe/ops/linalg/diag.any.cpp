#include "troupe/ops/kernel/copy.hpp"
#include "troupe/ops/linalg/shared/diagonals.hpp"

namespace troupe::ops::diag_any {
namespace {

status run(kernel_context& at) {
  const auto& diagonal = at.input(0);
  std::vector<int64_t> extents{diagonal.dims().begin(), diagonal.dims().end()};
  extents.insert(extents.end(), diagonal.dims().begin(), diagonal.dims().end());
  TROUPE_ASSIGN(auto dims, shape::make(extents));
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  fill_zeros(at, *out);
  matrices all{1, diagonal.elements(), diagonal.elements()};
  copy_to_strided(at, all.places(), diagonal, {*out});
  return {};
}

} // namespace

extern constexpr kernel_def diag_any{
    .op = "Diag",
    .run = {{dtype::none, run}},
    .on_any_device = true,
};

} // namespace troupe::ops::diag_any
