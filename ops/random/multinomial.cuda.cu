#include "troupe/ops/random/shared/classes.hpp"
#include "troupe/ops/random/shared/random.cuda.hpp"

namespace troupe::ops::multinomial_gpu {
namespace {

struct larger_logit {
  TROUPE_DEVICE static double step(double a, double b) { return b > a ? b : a; }
};
struct summed_weight {
  TROUPE_DEVICE static double step(double a, double b) { return a + b; }
};

TROUPE_DEVICE bool is_finite_logit(double x) { return x - x == 0; }

struct largest_logit_body {
  gpu::real_elements logits;
  int64_t classes;
  double* to;
  template <class Group>
  TROUPE_DEVICE void operator()(int64_t row, const Group& group) const {
    auto largest = -std::numeric_limits<double>::infinity();
    for (int64_t c = group.rank(); c < classes; c += group.size())
      if (auto x = logits[row * classes + c]; is_finite_logit(x) && x > largest)
        largest = x;
    largest = group.template all<larger_logit>(largest);
    if (group.rank() == 0)
      to[row] = largest;
  }
};

// Rows are summed in pieces of this length, so that no thread reads all classes.
constexpr int64_t weight_piece = 64;

struct weigh_body {
  gpu::real_elements logits;
  gpu::divisor by_pieces;
  int64_t classes;
  const double* largest;
  double *weights, *sums;
  template <class Group>
  TROUPE_DEVICE void operator()(int64_t i, const Group& group) const {
    auto [row, piece] = by_pieces(i);
    auto end = (piece + 1) * weight_piece < classes ? (piece + 1) * weight_piece : classes;
    double sum = 0;
    for (auto c = piece * weight_piece + group.rank(); c < end; c += group.size()) {
      auto x = logits[row * classes + c];
      auto weight = is_finite_logit(x) ? exp(x - largest[row]) : 0;
      weights[row * classes + c] = weight;
      sum += weight;
    }
    sum = group.template all<summed_weight>(sum);
    if (group.rank() == 0)
      sums[i] = sum;
  }
};

// Turns weights into their cumulative sums.
struct add_up_weights_body {
  gpu::divisor by_pieces;
  int64_t classes;
  double* weights;
  const double* sums;
  template <class Group>
  TROUPE_DEVICE void operator()(int64_t i, const Group& group) const {
    auto [row, piece] = by_pieces(i);
    double sum = 0;
    for (int64_t k = group.rank(); k < piece; k += group.size())
      sum += sums[i - piece + k];
    sum = group.template all<summed_weight>(sum);
    if (group.rank() != 0)
      return;
    auto end = (piece + 1) * weight_piece < classes ? (piece + 1) * weight_piece : classes;
    for (auto c = piece * weight_piece; c < end; ++c) {
      sum += weights[row * classes + c];
      weights[row * classes + c] = sum;
    }
  }
};

template <class T>
struct draw_classes_body {
  gpu::known_numbers numbers;
  gpu::device_errors wrong;
  gpu::divisor by_samples;
  int64_t classes;
  const double* sums;
  T* to;
  TROUPE_DEVICE void operator()(int64_t i) const {
    auto row = by_samples(i).quotient;
    const double* row_sums = sums + row * classes;
    if (row_sums[classes - 1] > 0) {
      to[i] = static_cast<T>(drawn_class(numbers.numbers, numbers.first, i, row_sums, classes));
      return;
    }
    wrong.add(row, 0);
    to[i] = 0;
  }
};

template <class T>
status run_multinomial(kernel_context& at) {
  const auto& logits = at.input(0);
  TROUPE_ASSIGN(auto dims, multinomial_dims(at));
  auto rows = dims[0], samples = dims[1], classes = logits.dims()[1];
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  if (out->elements() == 0)
    return {};
  if (classes == 0)
    return invalid("row 0 of logits has no class that is possible");
  auto pieces = (classes + weight_piece - 1) / weight_piece;
  auto room = [&](int64_t count) { return tensor::make(dtype::f64, shape{count}, at.memory()); };
  TROUPE_ASSIGN(auto largest, room(rows));
  TROUPE_ASSIGN(auto weights, room(rows * classes));
  TROUPE_ASSIGN(auto sums, room(rows * pieces));
  auto *peak = largest.template data<double>(), *weight = weights.template data<double>(),
       *sum = sums.template data<double>();
  gpu::real_elements from{logits};
  gpu::divisor by_pieces{pieces, rows * pieces};
  TROUPE_TRY(gpu::for_each_group(at, rows, classes, largest_logit_body{from, classes, peak}));
  TROUPE_TRY(gpu::for_each_group(at, rows * pieces, std::min(classes, weight_piece),
                                 weigh_body{from, by_pieces, classes, peak, weight, sum}));
  TROUPE_TRY(gpu::for_each_group(at, rows * pieces, pieces,
                                 add_up_weights_body{by_pieces, classes, weight, sum}));
  auto numbers = gpu::next_numbers(at, ops::blocks_for(out->elements(), 2));
  return gpu::for_each(
      at, out->elements(),
      draw_classes_body<T>{numbers,
                           {at, "logits without a class that is possible: their list of rows"},
                           {samples, out->elements()},
                           classes,
                           weight,
                           out->template data<T>()});
}

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(multinomial){
    .op = "Multinomial",
    .device = device_kind::gpu,
    .run = {{dtype::i32, run_multinomial<int32_t>}, {dtype::i64, run_multinomial<int64_t>}},
    .key = "output_dtype",
    .prepare = prepare_stream,
    .state_format = &stream_position,
};

} // namespace troupe::ops::multinomial_gpu
