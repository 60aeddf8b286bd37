#include "troupe/ops/recurrent/shared/lstm.cpu.hpp"

#include "troupe/devices/cpu/gemm.hpp"
#include "troupe/ops/recurrent/shared/gates.cpu.hpp"
#include "troupe/ops/recurrent/shared/staged.cpu.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops {
namespace {

// Nanoseconds for all gates of one cell.
constexpr double forward_cost = 10, backward_cost = 4;

// The quarters of a row of gates.
template <class P>
struct quarters {
  P *i, *ci, *f, *o;
  quarters(P* row, const gate_order& order, int64_t cells)
      : i(row + order.i * cells), ci(row + order.ci * cells), f(row + order.f * cells),
        o(row + order.o * cells) {}
};

template <class C>
struct peepholes {
  const C *i, *f, *o;
};

// The values that a step stores for the next step and for the gradient; rows of `cells`.
template <class P>
struct activations {
  P *i, *cs, *f, *o, *ci, *co, *h;
  activations from(int64_t place) const {
    return {i + place, cs + place, f + place, o + place, ci + place, co + place, h + place};
  }
};

struct cpu_gates {
  template <class C>
  static __attribute__((always_inline)) C squashed(C x) {
    return squash(x);
  }
  template <class C>
  static __attribute__((always_inline)) C tangent_of(C x) {
    return tangent(x);
  }
};

template <class C>
TROUPE_SIMD_CLONES void forward_cells(quarters<const C> input, quarters<const C> recurrent,
                                      quarters<const C> bias, peepholes<C> weights,
                                      const C* cs_prev, activations<C> out, C forget_bias, C clip,
                                      int64_t begin, int64_t end) {
#pragma GCC ivdep
  for (auto j = begin; j < end; ++j) {
    auto step_result = lstm_step<cpu_gates>(
        lstm_gates<C>{input.i[j] + recurrent.i[j] + bias.i[j],
                      input.ci[j] + recurrent.ci[j] + bias.ci[j],
                      input.f[j] + recurrent.f[j] + bias.f[j] + forget_bias,
                      input.o[j] + recurrent.o[j] + bias.o[j]},
        cs_prev[j], lstm_peepholes<C>{weights.i[j], weights.f[j], weights.o[j]}, clip);
    out.i[j] = step_result.i;
    out.f[j] = step_result.f;
    out.ci[j] = step_result.ci;
    out.cs[j] = step_result.cs;
    out.o[j] = step_result.o;
    out.co[j] = step_result.co;
    out.h[j] = step_result.h;
  }
}

// cs_prev_grad contains the value from the next step, and receives the value for the previous step.
template <class C>
TROUPE_SIMD_CLONES void backward_cells(activations<const C> stored, const C* cs_prev,
                                       peepholes<C> weights, const C* cs_grad, const C* h_grad,
                                       const C* h_later, C* cs_prev_grad, quarters<C> gates,
                                       int64_t begin, int64_t end) {
#pragma GCC ivdep
  for (auto j = begin; j < end; ++j) {
    auto step_gradient =
        lstm_step_back(lstm_cell<C>{stored.i[j], stored.cs[j], stored.f[j], stored.o[j],
                                    stored.ci[j], stored.co[j], C{}},
                       cs_prev[j], lstm_peepholes<C>{weights.i[j], weights.f[j], weights.o[j]},
                       cs_grad[j] + cs_prev_grad[j], h_grad[j] + h_later[j]);
    gates.i[j] = step_gradient.gates.i;
    gates.ci[j] = step_gradient.gates.ci;
    gates.f[j] = step_gradient.gates.f;
    gates.o[j] = step_gradient.gates.o;
    cs_prev_grad[j] = step_gradient.cs_prev;
  }
}

// The peepholes, or zeros.
template <class T>
auto read_peepholes(staged_operands<T>& operands, bool use, int first, int64_t cells)
    -> result<peepholes<compute_type<T>>> {
  if (!use) {
    TROUPE_ASSIGN(auto* zeros, operands.buffer(shape{cells}));
    std::fill_n(zeros, cells, compute_type<T>{});
    return peepholes<compute_type<T>>{zeros, zeros, zeros};
  }
  TROUPE_ASSIGN(auto* i, operands.read(first + 4));
  TROUPE_ASSIGN(auto* f, operands.read(first + 5));
  TROUPE_ASSIGN(auto* o, operands.read(first + 6));
  return peepholes<compute_type<T>>{i, f, o};
}

// sums[j] = sum over all rows of gate[row][j] * cell[row][j]
template <class C>
void sum_products(kernel_context& at, const lstm_extents& extents, const C* gate,
                  const C* first_cells, const C* cells, C* sums) {
  at.parallel_for(
      extents.cells, static_cast<double>(extents.rows()), [&](int64_t begin, int64_t end) {
        std::fill(sums + begin, sums + end, C{});
        for (int64_t row = 0; row < extents.rows(); ++row) {
          const auto* cell = row < extents.batch ? first_cells + row * extents.cells
                                                 : cells + (row - extents.batch) * extents.cells;
          for (auto j = begin; j < end; ++j)
            sums[j] += gate[row * 4 * extents.cells + j] * cell[j];
        }
      });
}

template <class C>
void sum_rows(kernel_context& at, const C* matrix, int64_t rows, int64_t columns, C* sums) {
  at.parallel_for(columns, static_cast<double>(rows), [&](int64_t begin, int64_t end) {
    std::fill(sums + begin, sums + end, C{});
    for (int64_t row = 0; row < rows; ++row)
      for (auto j = begin; j < end; ++j)
        sums[j] += matrix[row * columns + j];
  });
}

// Reads the outputs of the forward kernel, and the gradients of cs and h.
template <class T>
result<std::array<const compute_type<T>*, 9>> read_activations(kernel_context& at,
                                                               staged_operands<T>& operands,
                                                               const shape& dims, lstm_span span) {
  constexpr std::string_view names[] = {"i", "cs", "f", "o", "ci", "co", "h", "cs_grad", "h_grad"};
  const bool sequence = span == lstm_span::sequence;
  std::array<const compute_type<T>*, 9> in{};
  int next = sequence ? 9 : 8;
  for (size_t i = 0; i < in.size(); ++i)
    if (sequence || i != 6) { // the gradient of a single step does not need its h
      TROUPE_TRY(expect_shape(at, next, names[i], dims));
      TROUPE_ASSIGN(in[i], operands.read(next++));
    }
  return in;
}

template <class C>
struct backward_values {
  const C *x, *cs_prev, *h_prev, *w;
  activations<const C> from;
  const C* gates; // the gradients of the gates
};

// Writes the gradients of wci, wcf and wco.
template <class T>
status write_peephole_gradients(kernel_context& at, staged_operands<T>& operands,
                                const lstm_options& options, const lstm_extents& extents,
                                const backward_values<compute_type<T>>& values, lstm_span span) {
  const bool sequence = span == lstm_span::sequence;
  const int first_input = sequence ? 5 : 4, first_output = sequence ? 4 : 2;
  auto cells = extents.cells, each = extents.batch * cells;
  for (int p = 0; p < 3; ++p) {
    TROUPE_ASSIGN(auto* sums, operands.write(first_output + p, at.input(first_input + p).dims()));
    if (!options.use_peephole)
      std::fill_n(sums, at.input(first_input + p).elements(), compute_type<T>{});
    else if (p < 2)
      sum_products(at, extents, values.gates + (p == 0 ? options.order.i : options.order.f) * cells,
                   values.cs_prev, values.from.cs, sums);
    else
      sum_products(at, extents, values.gates + options.order.o * cells, values.from.cs,
                   values.from.cs + each, sums);
  }
  return {};
}

// Writes the gradients of x, w and b of a sequence.
template <class T>
status write_weight_gradients(kernel_context& at, staged_operands<T>& operands,
                              const lstm_extents& extents,
                              const backward_values<compute_type<T>>& values) {
  using C = compute_type<T>;
  auto cells = extents.cells, each = extents.batch * cells;
  auto rows = extents.rows();
  TROUPE_ASSIGN(auto* x_grad, operands.write(0, at.input(1).dims()));
  std::fill(x_grad + rows * extents.inputs, x_grad + at.input(1).elements(), C{});
  TROUPE_TRY(gemm(at.device(), false, true, rows, extents.inputs, 4 * cells, values.gates, values.w,
                  x_grad, at.stop()));
  TROUPE_ASSIGN(auto* w_grad, operands.write(3, at.input(4).dims()));
  TROUPE_TRY(gemm(at.device(), true, false, extents.inputs, 4 * cells, rows, values.x, values.gates,
                  w_grad, at.stop()));
  // The state at the start of each step: h_prev, then all but the last h.
  TROUPE_ASSIGN(auto* began, operands.buffer(shape{rows, cells}));
  if (rows > 0) {
    std::copy_n(values.h_prev, each, began);
    std::copy_n(values.from.h, (extents.active - 1) * each, began + each);
  }
  TROUPE_TRY(gemm(at.device(), true, false, cells, 4 * cells, rows, began, values.gates,
                  w_grad + extents.inputs * 4 * cells, at.stop()));
  TROUPE_ASSIGN(auto* b_grad, operands.write(7, shape{4 * cells}));
  sum_rows<C>(at, values.gates, rows, 4 * cells, b_grad);
  return {};
}

} // namespace

template <class T>
status lstm_forward(kernel_context& at, const lstm_options& options, lstm_span span) {
  using C = compute_type<T>;
  int first = span == lstm_span::sequence;
  TROUPE_ASSIGN(auto extents, check_lstm(at, options.use_peephole, span));
  TROUPE_ASSIGN(auto dims, lstm_output_shape(extents, span));
  TROUPE_ASSIGN(auto gate_dims, shape::make(std::array{extents.rows(), 4 * extents.cells}));
  auto cells = extents.cells, each = extents.batch * cells;
  staged_operands<T> operands{at};
  std::array<C*, 7> out{};
  for (int i = 0; i < 7; ++i) {
    TROUPE_ASSIGN(out[static_cast<size_t>(i)], operands.write(i, dims));
    std::fill(out[static_cast<size_t>(i)] + extents.active * each,
              out[static_cast<size_t>(i)] + dims.elements(), C{});
  }
  activations<C> to{out[0], out[1], out[2], out[3], out[4], out[5], out[6]};
  TROUPE_ASSIGN(auto* x, operands.read(first));
  TROUPE_ASSIGN(const C* cs, operands.read(first + 1));
  TROUPE_ASSIGN(const C* h, operands.read(first + 2));
  TROUPE_ASSIGN(auto* w, operands.read(first + 3));
  TROUPE_ASSIGN(auto weights, read_peepholes<T>(operands, options.use_peephole, first, cells));
  TROUPE_ASSIGN(auto* b, operands.read(first + 7));
  // The contribution of the inputs does not depend on earlier steps.
  TROUPE_ASSIGN(auto* inputs, operands.buffer(gate_dims));
  TROUPE_ASSIGN(auto* recurrent, operands.buffer(shape{extents.batch, 4 * cells}));
  TROUPE_TRY(gemm(at.device(), false, false, extents.rows(), 4 * cells, extents.inputs, x, w,
                  inputs, at.stop()));
  auto clip = options.cell_clip > 0 ? static_cast<C>(options.cell_clip)
                                    : std::numeric_limits<C>::infinity();
  for (int64_t t = 0; t < extents.active && each > 0; ++t) {
    if (at.stopped())
      return {};
    TROUPE_TRY(gemm(at.device(), false, false, extents.batch, 4 * cells, cells, h,
                    w + extents.inputs * 4 * cells, recurrent, at.stop()));
    for_cells(at, extents.batch, cells, forward_cost, [&](int64_t row, int64_t begin, int64_t end) {
      quarters<const C> from_x{inputs + (t * extents.batch + row) * 4 * cells, options.order,
                               cells},
          from_h{recurrent + row * 4 * cells, options.order, cells}, bias{b, options.order, cells};
      forward_cells<C>(from_x, from_h, bias, weights, cs + row * cells,
                       to.from(t * each + row * cells), static_cast<C>(options.forget_bias), clip,
                       begin, end);
    });
    cs = to.cs + t * each;
    h = to.h + t * each;
  }
  operands.finish();
  return {};
}

template <class T>
status lstm_backward(kernel_context& at, const lstm_options& options, lstm_span span) {
  using C = compute_type<T>;
  const bool sequence = span == lstm_span::sequence;
  const int first = sequence ? 1 : 0;
  TROUPE_ASSIGN(auto extents, check_lstm(at, options.use_peephole, span));
  TROUPE_ASSIGN(auto dims, lstm_output_shape(extents, span));
  TROUPE_ASSIGN(auto gate_dims, shape::make(std::array{extents.rows(), 4 * extents.cells}));
  auto cells = extents.cells, each = extents.batch * cells;
  staged_operands<T> operands{at};
  TROUPE_ASSIGN(auto in, read_activations(at, operands, dims, span));
  activations<const C> from{in[0], in[1], in[2], in[3], in[4], in[5], in[6]};
  TROUPE_ASSIGN(auto* x, operands.read(first));
  TROUPE_ASSIGN(auto* cs_prev, operands.read(first + 1));
  TROUPE_ASSIGN(auto* h_prev, operands.read(first + 2));
  TROUPE_ASSIGN(auto* w, operands.read(first + 3));
  TROUPE_ASSIGN(auto weights, read_peepholes<T>(operands, options.use_peephole, first, cells));

  const shape state{extents.batch, cells};
  TROUPE_ASSIGN(auto* cs_prev_grad, operands.write(sequence ? 1 : 0, state));
  std::fill_n(cs_prev_grad, each, C{});
  C *h_prev_grad = nullptr, *gates = nullptr;
  if (sequence) {
    TROUPE_ASSIGN(h_prev_grad, operands.write(2, state));
    TROUPE_ASSIGN(gates, operands.buffer(gate_dims));
  } else {
    TROUPE_ASSIGN(h_prev_grad, operands.buffer(state));
    TROUPE_ASSIGN(gates, operands.write(1, gate_dims));
  }
  std::fill_n(h_prev_grad, each, C{});
  for (auto t = extents.active - 1; t >= 0 && each > 0; --t) {
    if (at.stopped())
      return {};
    const auto* previous_cells = t == 0 ? cs_prev : from.cs + (t - 1) * each;
    for_cells(at, extents.batch, cells, backward_cost,
              [&](int64_t row, int64_t begin, int64_t end) {
                auto place = row * cells, in_step = t * each + place;
                quarters<C> to{gates + 4 * in_step, options.order, cells};
                backward_cells<C>(from.from(in_step), previous_cells + place, weights,
                                  in[7] + in_step, in[8] + in_step, h_prev_grad + place,
                                  cs_prev_grad + place, to, begin, end);
              });
    if (sequence)
      TROUPE_TRY(gemm(at.device(), false, true, extents.batch, cells, 4 * cells,
                      gates + 4 * t * each, w + extents.inputs * 4 * cells, h_prev_grad,
                      at.stop()));
  }

  backward_values<C> values{x, cs_prev, h_prev, w, from, gates};
  TROUPE_TRY(write_peephole_gradients<T>(at, operands, options, extents, values, span));
  if (sequence)
    TROUPE_TRY(write_weight_gradients<T>(at, operands, extents, values));
  operands.finish();
  return {};
}

template status lstm_forward<float16>(kernel_context&, const lstm_options&, lstm_span);
template status lstm_forward<float>(kernel_context&, const lstm_options&, lstm_span);
template status lstm_forward<double>(kernel_context&, const lstm_options&, lstm_span);
template status lstm_backward<float16>(kernel_context&, const lstm_options&, lstm_span);
template status lstm_backward<float>(kernel_context&, const lstm_options&, lstm_span);
template status lstm_backward<double>(kernel_context&, const lstm_options&, lstm_span);

} // namespace troupe::ops
