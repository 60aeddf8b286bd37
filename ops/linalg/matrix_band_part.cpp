// MatrixBandPart: sets the elements outside of a band around the diagonal to zero.
#include "troupe/ops/define/build.hpp"
#include "troupe/ops/linalg/shared/diagonals.hpp"

namespace troupe::ops::matrix_band_part_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_TRY(diagonals_of(at.input(0)));
  TROUPE_TRY(at.of_rank(1, 0));
  TROUPE_TRY(at.of_rank(2, 0));
  return shapes{at.input(0)};
}

edges gradient(gradient_context& at) {
  return {build("MatrixBandPart", {at.output_gradient(0), at.input(1), at.input(2)}), {}, {}};
}

} // namespace

extern constexpr op_def matrix_band_part{
    .name = "MatrixBandPart",
    .doc = "Makes zero what is farther below the main diagonals of matrices than num_lower, or "
           "farther above than num_upper.\n\nThe matrices are the last two axes. A negative number "
           "keeps the whole triangle; others must not be beyond the matrix.",
    .inputs = {{"input", "T"}, {"num_lower", "Tindex"}, {"num_upper", "Tindex"}},
    .outputs = {{"band", "T"}},
    .attrs = {{"T", any_type}, {"Tindex", index_types, dtype::i64}},
    .effects = effect::forwardable,
    .infer = infer,
    .gradient = gradient,
    .example = R"(
y = MatrixBandPart(f32[[1, 2, 3], [4, 5, 6], [7, 8, 9]], i64(1), i64(0))
fetch y = f32[[1, 0, 0], [4, 5, 0], [0, 8, 9]]
)",
};

} // namespace troupe::ops::matrix_band_part_op
