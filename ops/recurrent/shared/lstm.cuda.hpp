// Long short-term memory on GPUs: each step has a product and a kernel for the gates; the work that
// does not depend on earlier steps is one product for all steps.
#pragma once
#include "troupe/ops/kernel/copy.hpp"
#include "troupe/ops/matmul/shared/product.cuda.hpp"
#include "troupe/ops/recurrent/shared/expect_shape.hpp"
#include "troupe/ops/recurrent/shared/lstm_kernels.hpp"
#include "troupe/ops/reduction/shared/reduce.cuda.hpp"

#include <math.h>

#include "troupe/ops/kernel/gpu/scalar_functions.cuda.hpp"

namespace troupe::ops::gpu {
inline namespace TROUPE_GPU_BUILD {

struct gpu_gates {
  template <class C>
  static TROUPE_DEVICE C squashed(C x) {
    return logistic(x);
  }
  template <class C>
  static TROUPE_DEVICE C tangent_of(C x) {
    return tanh(x);
  }
};

/// The vectors of peepholes, or null pointers.
template <class T>
struct peephole_weights {
  const T *i = nullptr, *f = nullptr, *o = nullptr;

  peephole_weights(kernel_context& at, bool use, int first) {
    if (!use)
      return;
    i = at.input(first + 4).data<T>();
    f = at.input(first + 5).data<T>();
    o = at.input(first + 6).data<T>();
  }
  TROUPE_DEVICE lstm_peepholes<compute_type<T>> of(int64_t j) const {
    if (!i)
      return {};
    return {load(i[j]), load(f[j]), load(o[j])};
  }
};

/// The values that steps store; rows of cells.
template <class P>
struct lstm_rows {
  P *i, *cs, *f, *o, *ci, *co, *h;
  lstm_rows from(int64_t place) const {
    return {i + place, cs + place, f + place, o + place, ci + place, co + place, h ? h + place : h};
  }
};

template <class T>
struct lstm_forward_body {
  int64_t cells;
  gate_order order;
  const T *inputs, *recurrent, *bias, *cs_prev;
  peephole_weights<T> weights;
  compute_type<T> forget_bias, clip;
  lstm_rows<T> to;

  TROUPE_DEVICE compute_type<T> gate(int64_t row, int64_t j, int quarter) const {
    auto in_row = quarter * cells + j, place = row * 4 * cells + in_row;
    return load(inputs[place]) + load(recurrent[place]) + load(bias[in_row]);
  }
  TROUPE_DEVICE void operator()(int64_t at) const {
    auto row = at / cells, j = at - row * cells;
    auto step_result = lstm_step<gpu_gates>(
        lstm_gates<compute_type<T>>{gate(row, j, order.i), gate(row, j, order.ci),
                                    gate(row, j, order.f) + forget_bias, gate(row, j, order.o)},
        load(cs_prev[at]), weights.of(j), clip);
    to.i[at] = store<T>(step_result.i);
    to.cs[at] = store<T>(step_result.cs);
    to.f[at] = store<T>(step_result.f);
    to.o[at] = store<T>(step_result.o);
    to.ci[at] = store<T>(step_result.ci);
    to.co[at] = store<T>(step_result.co);
    to.h[at] = store<T>(step_result.h);
  }
};

// Fills the steps that were not computed with zeros.
template <class T>
status zeros_behind(kernel_context& at, const tensor& output, int64_t computed) {
  return for_each(at, output.elements() - computed, zeros_body<T>{output.data<T>() + computed});
}

template <class T, lstm_span Span>
status lstm_forward(kernel_context& at) {
  using C = compute_type<T>;
  const auto& options = at.state<lstm_options>();
  int first = Span == lstm_span::sequence;
  TROUPE_ASSIGN(auto extents, check_lstm(at, options.use_peephole, Span));
  TROUPE_ASSIGN(auto dims, lstm_output_shape(extents, Span));
  TROUPE_ASSIGN(auto gate_dims, shape::make(std::array{extents.rows(), 4 * extents.cells}));
  auto cells = extents.cells, each = extents.batch * cells;
  T* out[7];
  for (int i = 0; i < 7; ++i) {
    TROUPE_ASSIGN(auto* output, at.allocate(i, dims));
    TROUPE_TRY(zeros_behind<T>(at, *output, extents.active * each));
    out[i] = output->template data<T>();
  }
  lstm_rows<T> to{out[0], out[1], out[2], out[3], out[4], out[5], out[6]};
  const auto *cs = at.input(first + 1).data<T>(), *h = at.input(first + 2).data<T>(),
             *w = at.input(first + 3).data<T>(), *b = at.input(first + 7).data<T>();
  TROUPE_ASSIGN(auto inputs, tensor::make(dtype_of<T>, gate_dims, at.memory()));
  TROUPE_ASSIGN(auto recurrent,
                tensor::make(dtype_of<T>, shape{extents.batch, 4 * cells}, at.memory()));
  auto *from_x = inputs.template data<T>(), *from_h = recurrent.template data<T>();
  TROUPE_TRY(multiply(at, {}, extents.rows(), 4 * cells, extents.inputs, at.input(first).data<T>(),
                      w, from_x));
  auto clip = options.cell_clip > 0 ? static_cast<C>(options.cell_clip)
                                    : std::numeric_limits<C>::infinity();
  for (int64_t t = 0; t < extents.active && each > 0; ++t) {
    TROUPE_TRY(multiply(at, {}, extents.batch, 4 * cells, cells, h, w + extents.inputs * 4 * cells,
                        from_h));
    TROUPE_TRY(for_each(
        at, each,
        lstm_forward_body<T>{cells, options.order, from_x + 4 * t * each, from_h, b, cs,
                             peephole_weights<T>{at, options.use_peephole, first},
                             static_cast<C>(options.forget_bias), clip, to.from(t * each)}));
    cs = to.cs + t * each;
    h = to.h + t * each;
  }
  return {};
}

// cs_prev_grad contains the value from the next step, and receives the value for the previous step.
template <class T>
struct lstm_backward_body {
  int64_t cells;
  gate_order order;
  lstm_rows<const T> of;
  const T* cs_prev;
  peephole_weights<T> weights;
  const T *cs_grad, *h_grad, *h_later;
  T *cs_prev_grad, *gates;

  TROUPE_DEVICE void operator()(int64_t at) const {
    using C = compute_type<T>;
    auto row = at / cells, j = at - row * cells;
    auto step_gradient =
        lstm_step_back(lstm_cell<C>{load(of.i[at]), load(of.cs[at]), load(of.f[at]), load(of.o[at]),
                                    load(of.ci[at]), load(of.co[at]), C{}},
                       load(cs_prev[at]), weights.of(j), load(cs_grad[at]) + load(cs_prev_grad[at]),
                       load(h_grad[at]) + load(h_later[at]));
    auto* to = gates + row * 4 * cells + j;
    to[order.i * cells] = store<T>(step_gradient.gates.i);
    to[order.ci * cells] = store<T>(step_gradient.gates.ci);
    to[order.f * cells] = store<T>(step_gradient.gates.f);
    to[order.o * cells] = store<T>(step_gradient.gates.o);
    cs_prev_grad[at] = store<T>(step_gradient.cs_prev);
  }
};

// Multiplies a gate with the previous cells of each row; the first rows read them from another
// tensor.
template <class T>
struct peephole_source {
  int64_t cells, batch;
  const T *gate, *first_cells, *later_cells;
  TROUPE_DEVICE compute_type<T> operator()(int64_t j, int64_t row) const {
    auto cell = row < batch ? first_cells[row * cells + j] : later_cells[(row - batch) * cells + j];
    return load(gate[row * 4 * cells + j]) * load(cell);
  }
};

template <class T>
struct column_source {
  const T* matrix;
  int64_t columns;
  TROUPE_DEVICE compute_type<T> operator()(int64_t j, int64_t row) const {
    return load(matrix[row * columns + j]);
  }
};

template <class T, lstm_span Span>
status lstm_backward(kernel_context& at) {
  using C = compute_type<T>;
  constexpr bool sequence = Span == lstm_span::sequence;
  constexpr int first = sequence;
  const auto& options = at.state<lstm_options>();
  TROUPE_ASSIGN(auto extents, check_lstm(at, options.use_peephole, Span));
  TROUPE_ASSIGN(auto dims, lstm_output_shape(extents, Span));
  TROUPE_ASSIGN(auto gate_dims, shape::make(std::array{extents.rows(), 4 * extents.cells}));
  constexpr std::string_view names[] = {"i", "cs", "f", "o", "ci", "co", "h", "cs_grad", "h_grad"};
  auto cells = extents.cells, each = extents.batch * cells, rows = extents.rows();
  const T* in[9] = {};
  int next = first + 8;
  for (size_t i = 0; i < 9; ++i)
    if (sequence || i != 6) { // the gradient of a single step does not need its h
      TROUPE_TRY(expect_shape(at, next, names[i], dims));
      in[i] = at.input(next++).data<T>();
    }
  lstm_rows<const T> from{in[0], in[1], in[2], in[3], in[4], in[5], in[6]};
  const auto *x = at.input(first).data<T>(), *cs_prev = at.input(first + 1).data<T>(),
             *w = at.input(first + 3).data<T>(), *w_h = w + extents.inputs * 4 * cells;
  peephole_weights<T> weights{at, options.use_peephole, first};

  const shape state{extents.batch, cells};
  TROUPE_ASSIGN(auto* cs_prev_grad, at.allocate(sequence ? 1 : 0, state));
  fill_zeros(at, *cs_prev_grad);
  tensor h_prev_grad, gate_grads;
  if (sequence) {
    TROUPE_ASSIGN(auto* out, at.allocate(2, state));
    h_prev_grad = *out;
    TROUPE_ASSIGN(gate_grads, tensor::make(dtype_of<T>, gate_dims, at.memory()));
  } else {
    TROUPE_ASSIGN(h_prev_grad, tensor::make(dtype_of<T>, state, at.memory()));
    TROUPE_ASSIGN(auto* out, at.allocate(1, gate_dims));
    gate_grads = *out;
  }
  fill_zeros(at, h_prev_grad);
  auto *gates = gate_grads.template data<T>(), *h_later = h_prev_grad.template data<T>();
  for (auto t = extents.active - 1; t >= 0 && each > 0; --t) {
    auto row_offset = t * each;
    TROUPE_TRY(
        for_each(at, each,
                 lstm_backward_body<T>{cells, options.order, from.from(row_offset),
                                       t == 0 ? cs_prev : from.cs + row_offset - each, weights,
                                       in[7] + row_offset, in[8] + row_offset, h_later,
                                       cs_prev_grad->template data<T>(), gates + 4 * row_offset}));
    if (sequence)
      TROUPE_TRY(multiply(at, {.b = true}, extents.batch, cells, 4 * cells,
                          static_cast<const T*>(gates + 4 * row_offset), w_h, h_later));
  }

  for (int p = 0; p < 3; ++p) {
    TROUPE_ASSIGN(auto* out, at.allocate((sequence ? 4 : 2) + p, at.input(first + 4 + p).dims()));
    if (!options.use_peephole) {
      fill_zeros(at, *out);
      continue;
    }
    auto gate = p == 0 ? options.order.i : p == 1 ? options.order.f : options.order.o;
    TROUPE_TRY((reduce_each<addition, C>(
        at, cells, rows, true,
        peephole_source<T>{cells, extents.batch, gates + gate * cells, p < 2 ? cs_prev : from.cs,
                           p < 2 ? from.cs : from.cs + each},
        store_total<addition, T>{out->template data<T>(), rows})));
  }
  if constexpr (sequence) {
    const T* gate_values = gates;
    TROUPE_ASSIGN(auto* x_grad, at.allocate(0, at.input(first).dims()));
    TROUPE_TRY(zeros_behind<T>(at, *x_grad, rows * extents.inputs));
    TROUPE_TRY(multiply(at, {.b = true}, rows, extents.inputs, 4 * cells, gate_values, w,
                        x_grad->template data<T>()));
    TROUPE_ASSIGN(auto* w_grad, at.allocate(3, at.input(first + 3).dims()));
    auto* to_w = w_grad->template data<T>();
    TROUPE_TRY(multiply(at, {.a = true}, extents.inputs, 4 * cells, rows, x, gate_values, to_w));
    // The state at the start of each step: h_prev, then all but the last h.
    TROUPE_ASSIGN(auto began, tensor::make(dtype_of<T>, shape{rows, cells}, at.memory()));
    if (began.elements() > 0) {
      copy_elements({at.input(first + 2)}, {began}, each);
      copy_elements({at.input(first + 14)}, {began, each}, (extents.active - 1) * each);
    }
    TROUPE_TRY(multiply(at, {.a = true}, cells, 4 * cells, rows,
                        static_cast<const T*>(began.template data<T>()), gate_values,
                        to_w + extents.inputs * 4 * cells));
    TROUPE_ASSIGN(auto* b_grad, at.allocate(7, shape{4 * cells}));
    TROUPE_TRY((reduce_each<addition, C>(
        at, 4 * cells, rows, true, column_source<T>{gate_values, 4 * cells},
        store_total<addition, T>{b_grad->template data<T>(), rows})));
  }
  return {};
}

template <lstm_span Span>
inline constexpr inplace_vector<typed_kernel, 18> lstm_forward_kernels{
    {dtype::f16, lstm_forward<float16, Span>},
    {dtype::f32, lstm_forward<float, Span>},
    {dtype::f64, lstm_forward<double, Span>}};
template <lstm_span Span>
inline constexpr inplace_vector<typed_kernel, 18> lstm_backward_kernels{
    {dtype::f16, lstm_backward<float16, Span>},
    {dtype::f32, lstm_backward<float, Span>},
    {dtype::f64, lstm_backward<double, Span>}};

} // namespace TROUPE_GPU_BUILD
} // namespace troupe::ops::gpu
