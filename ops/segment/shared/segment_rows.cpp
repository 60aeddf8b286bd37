#include "troupe/ops/segment/shared/segment_rows.hpp"

#include "troupe/ops/define/axes.hpp"
#include "troupe/runtime/graph/infer.hpp"

#include <algorithm>

namespace troupe::ops {
namespace {

// Allocates the output: this many rows, each with the extents of data from `axis` on.
result<segment_rows> with_output(kernel_context& at, int64_t segments, int axis) {
  auto row = at.input(0).dims().extents().subspan(static_cast<size_t>(axis));
  std::vector<int64_t> extents{segments};
  extents.insert(extents.end(), row.begin(), row.end());
  TROUPE_ASSIGN(auto dims, shape::make(extents));
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  if (out->elements() == 0)
    return segment_rows{.out = out};
  return segment_rows{.out = out, .segments = segments, .length = out->elements() / segments};
}

// The number of segments of ids that must not decrease.
result<int64_t> count_sorted(const integer_list& ids) {
  int64_t last = 0;
  for (auto id : ids) {
    if (id < last)
      return invalid("segment_ids must start at 0 or more and not decrease, but ", id,
                     " comes after ", last);
    last = id;
  }
  if (last >= max_segments)
    return invalid("segment_ids has ", last, ", which is too large");
  return ids.size() > 0 ? last + 1 : 0;
}

// Finds the start of each segment. Negative ids are not counted; all others must be in range.
void find_starts(segment_rows& segments, const integer_list& ids) {
  segments.starts.assign(static_cast<size_t>(segments.segments) + 1, 0);
  for (auto id : ids)
    if (id >= 0)
      ++segments.starts[static_cast<size_t>(id) + 1];
  for (size_t i = 1; i < segments.starts.size(); ++i)
    segments.starts[i] += segments.starts[i - 1];
}

// The numbers of all entries, sorted stably by their ids.
std::vector<int64_t> sort_entries(const segment_rows& segments, const integer_list& ids) {
  auto next = segments.starts;
  std::vector<int64_t> order(static_cast<size_t>(segments.starts.back()));
  for (size_t i = 0; i < ids.size(); ++i)
    if (ids[i] >= 0)
      order[static_cast<size_t>(next[static_cast<size_t>(ids[i])]++)] = static_cast<int64_t>(i);
  return order;
}

status check_range(const char* name, const integer_list& numbers, int64_t end) {
  for (auto number : numbers)
    if (number < 0 || number >= end)
      return invalid(name, " must be in [0, ", end, "), got ", number);
  return {};
}

result<int64_t> scalar(const char* name, const tensor& from) {
  if (from.elements() != 1)
    return invalid(name, " must be a scalar, got shape ", from.dims());
  auto value = to_integers(from)[0];
  if (value < 0)
    return invalid(name, " must not be negative, got ", value);
  return value;
}

status check_vectors(const tensor& indices, const tensor& ids) {
  if (indices.rank() != 1 || ids.rank() != 1 || indices.elements() != ids.elements())
    return invalid("indices and segment_ids must be vectors of the same length, got shapes ",
                   indices.dims(), " and ", ids.dims());
  return {};
}

} // namespace

result<segment_rows> sorted_output(kernel_context& at, int64_t segments) {
  const auto &data = at.input(0), &ids = at.input(1);
  if (data.rank() == 0 || ids.rank() != 1 || ids.elements() != data.dims()[0])
    return invalid("segment_ids must be a vector with one element for each row of data, got "
                   "shapes ",
                   ids.dims(), " and ", data.dims());
  return with_output(at, segments, 1);
}

result<segment_rows> sorted_segments(kernel_context& at) {
  auto numbers = to_integers(at.input(1));
  TROUPE_ASSIGN(auto segments, count_sorted(numbers));
  TROUPE_ASSIGN(auto segments_found, sorted_output(at, segments));
  if (segments_found.segments > 0)
    find_starts(segments_found, numbers);
  return segments_found;
}

result<segment_rows> unsorted_output(kernel_context& at) {
  const auto &data = at.input(0), &ids = at.input(1);
  auto leading = ids.rank() <= data.rank()
                     ? data.dims().extents().first(static_cast<size_t>(ids.rank()))
                     : std::span<const int64_t>{};
  if (!std::ranges::equal(leading, ids.dims().extents()))
    return invalid("the shape of segment_ids ", ids.dims(), " must begin the shape of data ",
                   data.dims());
  TROUPE_ASSIGN(auto segments, scalar("num_segments", at.input(2)));
  TROUPE_ASSIGN(auto grouped, with_output(at, segments, ids.rank()));
  grouped.segments = segments;
  return grouped;
}

result<segment_rows> sparse_output(kernel_context& at, int64_t segments) {
  TROUPE_TRY(check_vectors(at.input(1), at.input(2)));
  if (at.input(0).rank() == 0)
    return invalid("data must have rows, got a scalar");
  TROUPE_ASSIGN(auto grouped, with_output(at, segments, 1));
  grouped.segments = segments;
  return grouped;
}

result<segment_rows> sparse_output(kernel_context& at) {
  TROUPE_ASSIGN(auto segments, scalar("num_segments", at.input(3)));
  return sparse_output(at, segments);
}

result<segment_rows> unsorted_segments(kernel_context& at) {
  TROUPE_ASSIGN(auto grouped, unsorted_output(at));
  auto segments = grouped.segments;
  if (grouped.out->elements() == 0)
    grouped.segments = 0;
  auto numbers = to_integers(at.input(1));
  for (auto id : numbers)
    if (id >= segments)
      return invalid("segment_ids has ", id, ", but num_segments is ", segments);
  if (grouped.segments > 0) {
    find_starts(grouped, numbers);
    grouped.rows = sort_entries(grouped, numbers);
  }
  return grouped;
}

result<segment_rows> sparse_segments(kernel_context& at) {
  const auto& data = at.input(0);
  TROUPE_TRY(check_vectors(at.input(1), at.input(2)));
  if (data.rank() == 0)
    return invalid("data must have rows, got a scalar");
  auto indices = to_integers(at.input(1)), ids = to_integers(at.input(2));
  TROUPE_TRY(check_range("indices", indices, data.dims()[0]));
  TROUPE_ASSIGN(auto segments, count_sorted(ids));
  if (at.inputs() > 3) {
    TROUPE_ASSIGN(auto num_segments, scalar("num_segments", at.input(3)));
    if (num_segments < segments)
      return invalid("segment_ids has ", segments - 1, ", but num_segments is ", num_segments);
    segments = num_segments;
  }
  TROUPE_ASSIGN(auto grouped, with_output(at, segments, 1));
  if (grouped.segments > 0) {
    find_starts(grouped, ids);
    grouped.rows.assign(indices.begin(), indices.end());
  }
  return grouped;
}

result<segment_rows> sparse_gradient_output(kernel_context& at) {
  TROUPE_TRY(check_vectors(at.input(1), at.input(2)));
  if (at.input(0).rank() == 0)
    return invalid("grad must have rows, got a scalar");
  TROUPE_ASSIGN(auto rows, scalar("output_dim0", at.input(3)));
  TROUPE_ASSIGN(auto grouped, with_output(at, rows, 1));
  grouped.segments = rows;
  return grouped;
}

result<segment_rows> sparse_segment_gradients(kernel_context& at, weight_fn weight) {
  const auto& gradient = at.input(0);
  TROUPE_ASSIGN(auto grouped, sparse_gradient_output(at));
  auto indices = to_integers(at.input(1)), ids = to_integers(at.input(2));
  TROUPE_TRY(check_range("indices", indices, grouped.segments));
  TROUPE_TRY(check_range("segment_ids", ids, gradient.dims()[0]));
  if (grouped.out->elements() == 0) {
    grouped.segments = 0;
    return grouped;
  }
  find_starts(grouped, indices);
  grouped.rows = sort_entries(grouped, indices);
  std::vector<double> counts(static_cast<size_t>(gradient.dims()[0]));
  for (auto id : ids)
    ++counts[static_cast<size_t>(id)];
  for (auto& row : grouped.rows) {
    row = ids[static_cast<size_t>(row)];
    grouped.weights.push_back(weight(counts[static_cast<size_t>(row)]));
  }
  return grouped;
}

} // namespace troupe::ops
