#include "troupe/ops/kernel/copy.hpp"
#include "troupe/ops/linalg/shared/diagonals.hpp"

namespace troupe::ops::matrix_band_part_cpu {
namespace {

result<int64_t> band_width(const tensor& scalar, int64_t max_width) {
  TROUPE_TRY(check_band(scalar));
  auto width = to_integers(scalar)[0];
  if (width > max_width)
    return invalid("num_lower and num_upper must be within the matrix, got ", width, ", at most ",
                   max_width);
  return width < 0 ? max_width : width;
}

status run(kernel_context& at) {
  TROUPE_ASSIGN(auto in, matrices_of(at.input(0).dims()));
  TROUPE_ASSIGN(auto lower, band_width(at.input(1), in.rows));
  TROUPE_ASSIGN(auto upper, band_width(at.input(2), in.columns));
  TROUPE_ASSIGN(auto zero, zero_of(at.output_type(0)));
  TROUPE_ASSIGN(auto* out, output_from_input(at, 0));
  if (out->elements() == 0)
    return {};
  at.parallel_for(in.count * in.rows, 5 + 0.2 * static_cast<double>(in.columns),
                  [&](int64_t begin, int64_t end) {
                    for (auto i = begin; i < end; ++i) {
                      auto row = i % in.rows, first = i * in.columns;
                      auto first_kept = std::clamp<int64_t>(row - lower, 0, in.columns);
                      auto right = std::clamp<int64_t>(row + upper + 1, first_kept, in.columns);
                      fill_elements(zero, {*out, first}, first_kept);
                      fill_elements(zero, {*out, first + right}, in.columns - right);
                    }
                  });
  return {};
}

} // namespace

extern constexpr kernel_def matrix_band_part_cpu{
    .op = "MatrixBandPart",
    .run = {{dtype::none, run}},
};

} // namespace troupe::ops::matrix_band_part_cpu
