#include "troupe/ops/define/axes.hpp"
#include "troupe/ops/kernel/copy.hpp"
#include "troupe/ops/kernel/element_types.hpp"
#include "troupe/runtime/graph/kernel.hpp"

namespace troupe::ops::select_cpu {
namespace {

// Selects elements of one of two tensors, either of which may be a single element.
template <class T>
void choose(const bool* chosen, const T* if_true, int64_t step_yes, const T* if_false,
            int64_t step_no, T* to, int64_t count) {
  if constexpr (!std::is_same_v<T, std::string> && sizeof(T) <= sizeof(uint64_t)) {
    // With masks instead of branches the loop is vectorized.
    using word = std::remove_cvref_t<decltype(to->words[0])>;
    auto mixed = [](bool first, const T& a, const T& b) {
      auto mask = static_cast<word>(0 - static_cast<word>(first));
      return T{{static_cast<word>((a.words[0] & mask) | (b.words[0] & ~mask))}};
    };
    if (step_yes == 1 && step_no == 1) {
#pragma GCC ivdep
      for (int64_t i = 0; i < count; ++i)
        to[i] = mixed(chosen[i], if_true[i], if_false[i]);
      return;
    }
  }
  for (int64_t i = 0; i < count; ++i)
    to[i] = chosen[i] ? if_true[i * step_yes] : if_false[i * step_no];
}

status run_select(kernel_context& at) {
  const auto &condition = at.input(0), &if_true = at.input(1), &if_false = at.input(2);
  const auto& dims = if_true.dims();
  if (!(dims == if_false.dims()))
    return invalid("t and e must have one shape, got ", dims, " and ", if_false.dims());
  const auto* chosen = condition.data<bool>();
  if (condition.rank() == 0) {
    at.set_output(0, *chosen ? if_true : if_false);
    return {};
  }
  int64_t row = 1; // the number of elements per truth value
  if (condition.rank() == 1 && dims.rank() > 1 && condition.dims()[0] == dims[0])
    row = product(dims, 1, dims.rank());
  else if (!(condition.dims() == dims))
    return invalid("condition must be a scalar, a vector of rows, or have the shape ", dims,
                   ", got ", condition.dims());
  TROUPE_ASSIGN(auto* out, at.forward_or_allocate(0, {1, 2}, dims));
  with_word(out->type(), [&](auto word_type) {
    using T = typename decltype(word_type)::type;
    const auto *from_yes = static_cast<const T*>(if_true.raw()),
               *from_no = static_cast<const T*>(if_false.raw());
    auto* to = static_cast<T*>(out->raw());
    at.parallel_for(out->elements(), 0.5, [&](int64_t begin, int64_t end) {
      if (row == 1)
        return choose(chosen + begin, from_yes + begin, 1, from_no + begin, 1, to + begin,
                      end - begin);
      for (auto i = begin; i < end; ++i)
        to[i] = chosen[i / row] ? from_yes[i] : from_no[i];
    });
  });
  return {};
}

// The tensor stretched to the shape. It is returned unchanged if it has the shape, or if it is a
// single value and that is allowed.
result<tensor> stretched(kernel_context& at, const tensor& x, const shape& dims, bool may_be_one) {
  if (x.dims() == dims || (may_be_one && x.elements() == 1))
    return x;
  TROUPE_ASSIGN(auto out, tensor::make(x.type(), dims, at.memory()));
  copy_strided(at, strided_iterator::broadcast(dims, x.dims()), {x}, out);
  return out;
}

status run_select_v2(kernel_context& at) {
  const auto &condition = at.input(0), &t = at.input(1), &e = at.input(2);
  TROUPE_ASSIGN(auto values, broadcast(t.dims(), e.dims()));
  TROUPE_ASSIGN(auto dims, broadcast(condition.dims(), values));
  if (condition.elements() == 1 && dims.elements() > 0) {
    TROUPE_ASSIGN(auto out, stretched(at, *condition.data<bool>() ? t : e, dims, false));
    at.set_output(0, std::move(out));
    return {};
  }
  TROUPE_ASSIGN(auto chosen, stretched(at, condition, dims, false));
  TROUPE_ASSIGN(auto if_true, stretched(at, t, dims, true));
  TROUPE_ASSIGN(auto if_false, stretched(at, e, dims, true));
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  int64_t step_yes = if_true.elements() == 1 ? 0 : 1, step_no = if_false.elements() == 1 ? 0 : 1;
  with_word(out->type(), [&](auto word_type) {
    using T = typename decltype(word_type)::type;
    const auto *from_yes = static_cast<const T*>(if_true.raw()),
               *from_no = static_cast<const T*>(if_false.raw());
    auto* to = static_cast<T*>(out->raw());
    at.parallel_for(out->elements(), 0.5, [&](int64_t begin, int64_t end) {
      choose(chosen.data<bool>() + begin, from_yes + begin * step_yes, step_yes,
             from_no + begin * step_no, step_no, to + begin, end - begin);
    });
  });
  return {};
}

template <class T>
void select_loop(const void* const* inputs, const int64_t* steps, void* output, int64_t count) {
  const auto* chosen = static_cast<const bool*>(inputs[0]);
  const auto *if_true = static_cast<const T*>(inputs[1]),
             *if_false = static_cast<const T*>(inputs[2]);
  auto* to = static_cast<T*>(output);
  if (steps[0] != 0)
    return choose(chosen, if_true, steps[1], if_false, steps[2], to, count);
  const auto* from = *chosen ? if_true : if_false;
  auto step = steps[*chosen ? 1 : 2];
  for (int64_t i = 0; i < count; ++i)
    to[i] = from[i * step];
}

inner_loop_fn inner_loop_of(const node& from_node) {
  inner_loop_fn loop = nullptr;
  with_word(from_node.output_type(0), [&](auto word_type) {
    using T = typename decltype(word_type)::type;
    if constexpr (!std::is_same_v<T, std::string>)
      loop = select_loop<T>;
  });
  return loop;
}

constexpr int64_t chunk = 16'384;

// Each chunk counts its true elements first, so that every chunk knows where its coordinates go.
template <class T>
status run_where(kernel_context& at) {
  const auto& x = at.input(0);
  const auto& dims = x.dims();
  const T* from = x.data<T>();
  auto elements = x.elements();
  std::vector<int64_t> starts(static_cast<size_t>((elements + chunk - 1) / chunk) + 1);
  auto chunks = static_cast<int64_t>(starts.size()) - 1;
  at.parallel_for(chunks, 0.5 * chunk, [&](int64_t begin, int64_t end) {
    for (auto c = begin; c < end; ++c) {
      int64_t count = 0;
      for (auto i = c * chunk; i < std::min((c + 1) * chunk, elements); ++i)
        count += from[i] != T{};
      starts[static_cast<size_t>(c) + 1] = count;
    }
  });
  if (at.stopped())
    return {};
  for (size_t c = 1; c < starts.size(); ++c)
    starts[c] += starts[c - 1];
  TROUPE_ASSIGN(auto* out, at.allocate(0, {starts.back(), dims.rank()}));
  auto* to = out->template data<int64_t>();
  at.parallel_for(chunks, 2.0 * chunk, [&](int64_t begin, int64_t end) {
    for (auto c = begin; c < end; ++c) {
      auto* row = to + starts[static_cast<size_t>(c)] * dims.rank();
      for (auto i = c * chunk; i < std::min((c + 1) * chunk, elements); ++i) {
        if (from[i] == T{})
          continue;
        auto remaining = i;
        for (int axis = dims.rank() - 1; axis >= 0; --axis) {
          row[axis] = remaining % dims[axis];
          remaining /= dims[axis];
        }
        row += dims.rank();
      }
    }
  });
  return {};
}

template <class... Ts>
constexpr inplace_vector<typed_kernel, 18> kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, run_where<Ts>}...};
}

} // namespace

extern constexpr kernel_def select_cpu{
    .op = "Select",
    .run = {{dtype::none, run_select}},
    .find_inner_loop = inner_loop_of,
};

extern constexpr kernel_def select_v2_cpu{
    .op = "SelectV2",
    .run = {{dtype::none, run_select_v2}},
    .find_inner_loop = inner_loop_of,
};

extern constexpr kernel_def where_cpu{
    .op = "Where",
    .run = kernels(types::numbers + types::boolean),
};

} // namespace troupe::ops::select_cpu
