// GPU kernels that reduce some axes of a tensor, in the same order each time, so that results do
// not vary.
#pragma once
#include "troupe/ops/define/axes.hpp"
#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/ops/kernel/gpu/primitives.cuda.hpp"
#include "troupe/ops/kernel/gpu/strided_index.cuda.hpp"
#include "troupe/ops/kernel/reducers.hpp"
#include "troupe/ops/reduction/shared/reduction_plan.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::gpu {
inline namespace TROUPE_GPU_BUILD {

/// Each type costs seconds of compilation, so types that are rarely reduced on GPUs stay on
/// processors.
inline constexpr auto reduced_types = types::floating + type_list<int32_t, int64_t>{};

// Reduces one output's elements, or one share of them.
template <class Fn, class Total, class Source, class Sink>
struct reduce_body {
  Source source;
  Sink sink;
  int64_t outputs, items, shares;

  template <class Group>
  TROUPE_DEVICE void operator()(int64_t at, const Group& group) const {
    auto output = at % outputs, share = at / outputs;
    auto per_share = (items + shares - 1) / shares;
    auto end = (share + 1) * per_share < items ? (share + 1) * per_share : items;
    auto total = Fn::template start<Total>();
    for (auto i = share * per_share + group.rank(); i < end; i += group.size())
      total = Fn::step(total, source(output, i));
    total = group.template all<Fn>(total);
    if (group.rank() == 0)
      sink(at, total);
  }
};

template <class Total>
struct keep_partial {
  Total* to;
  TROUPE_DEVICE void operator()(int64_t at, const Total& total) const { to[at] = total; }
};
template <class Total>
struct partials {
  const Total* from;
  int64_t outputs;
  TROUPE_DEVICE Total operator()(int64_t output, int64_t share) const {
    return from[share * outputs + output];
  }
};

/// Calls sink(i, total) for each of `outputs`, where the total is over source(i, k) for all k of
/// [0, items). `side_by_side`: adjacent outputs have adjacent elements.
template <class Fn, class Total, class Source, class Sink>
status reduce_each(kernel_context& at, int64_t outputs, int64_t items, bool side_by_side,
                   Source source, Sink sink) {
  if (outputs == 0)
    return {};
  // One thread per output, or a group where single threads would read far apart; shares where the
  // GPU would otherwise be mostly idle.
  constexpr int64_t busy = 1 << 17, least = 64;
  auto group_size = [&](int64_t items_per_output) {
    return side_by_side ? int64_t{1} : items_per_output;
  };
  auto threads = outputs * (side_by_side ? 1 : std::min<int64_t>(items, 256));
  auto shares =
      std::clamp<int64_t>(std::min(busy / std::max<int64_t>(threads, 1), items / least), 1, 1024);
  if (shares < 4)
    return for_each_group(at, outputs, group_size(items),
                          reduce_body<Fn, Total, Source, Sink>{source, sink, outputs, items, 1});
  TROUPE_ASSIGN(
      auto share_totals,
      tensor::make(dtype::u8, shape{outputs * shares * int64_t{sizeof(Total)}}, at.memory()));
  auto* part = static_cast<Total*>(share_totals.raw());
  TROUPE_TRY(for_each_group(
      at, outputs * shares, group_size(items / shares),
      reduce_body<Fn, Total, Source, keep_partial<Total>>{source, {part}, outputs, items, shares}));
  return for_each_group(
      at, outputs, shares,
      reduce_body<Fn, Total, partials<Total>, Sink>{{part, outputs}, sink, outputs, shares, 1});
}

template <class Fn, class T>
struct walked_elements {
  const T* x;
  strided_index kept, reduced;
  TROUPE_DEVICE troupe::ops::detail::total_t<T> operator()(int64_t output, int64_t i) const {
    using total = troupe::ops::detail::total_t<T>;
    auto value = static_cast<total>(load(x[kept[output] + reduced[i]]));
    if constexpr (requires { Fn::map(total{}); })
      return Fn::map(value);
    else
      return value;
  }
};

template <class Fn, class T>
struct store_total {
  T* to;
  int64_t items;
  template <class Total>
  TROUPE_DEVICE void operator()(int64_t at, const Total& total) const {
    to[at] = store<T>(static_cast<compute_type<T>>(Fn::finish(total, items)));
  }
};

/// Whether there is a single row of contiguous elements, which the whole GPU reduces, or enough
/// rows of sufficient length for one block of threads per row.
inline bool are_rows_of_neighbours(const reduction_plan& plan) {
  constexpr int64_t is_long = 1024, busy = 128;
  auto rows = plan.kept.elements();
  return plan.last_is_reduced && plan.reduced.rank() == 1 && plan.kept.rank() <= 1 &&
         (rows == 1 || (rows >= busy && plan.items > is_long));
}

/// Reduces input 0 over the axes in input 1; the state is the attribute `keep_dims`.
template <class T, class Fn>
status reduce(kernel_context& at) {
  const auto& x = at.input(0);
  TROUPE_ASSIGN(auto plan, plan_reduction(at, at.state<bool>()));
  TROUPE_ASSIGN(auto* out, at.allocate(0, plan.dims));
  if (are_rows_of_neighbours(plan))
    return reduce_rows<Fn>(at, x.data<T>(), out->template data<T>(), out->elements(), plan.items);
  return reduce_each<Fn, troupe::ops::detail::total_t<T>>(
      at, out->elements(), x.elements() == 0 ? 0 : plan.items, !plan.last_is_reduced,
      walked_elements<Fn, T>{x.data<T>(), strided_index{plan.kept}, strided_index{plan.reduced}},
      store_total<Fn, T>{out->template data<T>(), plan.items});
}

template <class Fn, class... Ts>
constexpr inplace_vector<typed_kernel, 18> reduce_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, reduce<Ts, Fn>}...};
}

} // namespace TROUPE_GPU_BUILD
} // namespace troupe::ops::gpu
