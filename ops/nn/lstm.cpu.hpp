// The arithmetic of long short-term memory, one step or many (Hochreiter and Schmidhuber 1997; with
// peepholes: Gers, Schraudolph and Schmidhuber 2002). LSTMBlockCell and BlockLSTM share it.
#pragma once
#include "troupe/runtime/graph.hpp"
#include "troupe/runtime/kernel.hpp"

namespace troupe::ops {

/// Which quarter of a row of gates belongs to whom: the input gate, the new value of the cell, the
/// forget gate, the output gate.
struct gate_order {
  int i, ci, f, o;
};
inline constexpr gate_order icfo{0, 1, 2, 3}, ifco{0, 2, 1, 3};

/// Attributes.
struct lstm_options {
  gate_order order = icfo;
  bool use_peephole = false;
  float forget_bias = 0;
  float cell_clip = 0; ///< cells stay within +- this; not if it is 0 or less
};

/// x has one step, without an axis for it, or many, and then the op's first input is their number.
enum class lstm_span : uint8_t { step, sequence };

/// Reads x, cs_prev, h_prev, w, wci, wcf, wco, b; writes i, cs, f, o, ci, co, h. For the types f16,
/// f32 and f64.
template <class T>
status lstm_forward(kernel_context& at, const lstm_options& options, lstm_span span);

/// Reads in addition i, cs, f, o, ci, co, h (of sequences only), cs_grad, h_grad. Writes for a step
/// the gradients of cs_prev, gates, wci, wcf, wco; for a sequence those of all the inputs of
/// `lstm_forward`. As in TensorFlow, cells that were clipped count as if they had not been.
template <class T>
status lstm_backward(kernel_context& at, const lstm_options& options, lstm_span span);

template <gate_order Order>
result<std::shared_ptr<void>> prepare_lstm(const kernel_setup& setup) {
  const auto& of = setup.of;
  auto real = [&](std::string_view name) {
    return of.op().find_attr(name) ? static_cast<float>(of.attr<double>(name)) : 0.f;
  };
  return std::shared_ptr<void>{
      std::make_shared<lstm_options>(lstm_options{.order = Order,
                                                  .use_peephole = of.attr<bool>("use_peephole"),
                                                  .forget_bias = real("forget_bias"),
                                                  .cell_clip = real("cell_clip")})};
}

template <class T, lstm_span Span>
status run_lstm_forward(kernel_context& at) {
  return lstm_forward<T>(at, at.state<lstm_options>(), Span);
}
template <class T, lstm_span Span>
status run_lstm_backward(kernel_context& at) {
  return lstm_backward<T>(at, at.state<lstm_options>(), Span);
}

template <lstm_span Span>
inline constexpr upto<typed_kernel, 18> lstm_forward_kernels{
    {dtype::f16, run_lstm_forward<float16, Span>},
    {dtype::f32, run_lstm_forward<float, Span>},
    {dtype::f64, run_lstm_forward<double, Span>}};
template <lstm_span Span>
inline constexpr upto<typed_kernel, 18> lstm_backward_kernels{
    {dtype::f16, run_lstm_backward<float16, Span>},
    {dtype::f32, run_lstm_backward<float, Span>},
    {dtype::f64, run_lstm_backward<double, Span>}};

} // namespace troupe::ops
