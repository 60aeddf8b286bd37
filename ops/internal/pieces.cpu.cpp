// Collective operations between tasks: split tensors, reduce the pieces of all tasks, and join
// them.
#include "troupe/devices/cpu/collective.hpp"
#include "troupe/runtime/graph/graph.hpp"
#include "troupe/runtime/graph/kernel.hpp"
#include "troupe/runtime/graph/piece.hpp"

#include <cstring>
#include <numeric>

namespace troupe::ops::pieces_cpu {
namespace {

constexpr double nanoseconds_per_byte = 0.1;

// Releases a buffer that refers to part of a tensor, and its reference to that tensor.
void release_part(buffer* part) {
  delete static_cast<tensor*>(part->context());
  delete part;
}

// A part of a tensor as a tensor of its own: over the same memory where the alignment permits,
// otherwise a copy. It must not be written to, although its reference count is one.
result<tensor> part_of(const tensor& whole, piece part, const shape& dims, allocator& memory) {
  const auto offset = static_cast<size_t>(part.begin) * size_of(whole.type());
  const auto bytes = static_cast<size_t>(part.elements()) * size_of(whole.type());
  if (part.elements() == whole.elements())
    return whole.reshaped(dims);
  auto* from = static_cast<char*>(whole.raw()) + offset;
  if (bytes > 0 && offset % tensor_alignment == 0)
    return tensor::from_buffer(new buffer{from, bytes, release_part, new tensor{whole}},
                               whole.type(), dims);
  TROUPE_ASSIGN(auto copy, tensor::make(whole.type(), dims, memory));
  if (bytes > 0)
    std::memcpy(copy.raw(), from, bytes);
  return copy;
}

// -- _Pieces -----------------------------------------------------------------------------------

struct pieces_form {
  int64_t count;
  std::vector<int64_t> shares;
  int64_t parts; // the divisor of the first axis
  bool tells_dims;
};

result<std::shared_ptr<void>> prepare_pieces(const kernel_setup& setup) {
  const auto& shares = setup.origin.attr<std::vector<int64_t>>("shares");
  return std::shared_ptr<void>{
      std::make_shared<pieces_form>(setup.origin.attr<int64_t>("count"), shares,
                                    std::accumulate(shares.begin(), shares.end(), int64_t{0}),
                                    setup.origin.attr<int64_t>("tells_dims") == 1)};
}

status cut_rows(kernel_context& at, const pieces_form& form) {
  const auto& x = at.input(0);
  if (x.rank() == 0)
    return invalid("needs a first axis, got a scalar");
  if (x.dims()[0] % form.parts != 0)
    return invalid("the first axis of ", x.dims(), " cannot be cut into ", form.parts,
                   " equal parts");
  const auto rows = x.dims()[0] / form.parts;
  const auto row_elements = x.dims()[0] > 0 ? x.elements() / x.dims()[0] : 0;
  int64_t done = 0;
  for (size_t i = 0; i < form.shares.size(); ++i) {
    auto dims = x.dims();
    shape share_dims;
    share_dims.push_back(rows * form.shares[i]);
    for (int axis = 1; axis < dims.rank(); ++axis)
      share_dims.push_back(dims[axis]);
    auto next = done + share_dims[0] * row_elements;
    TROUPE_ASSIGN(auto part, part_of(x, {done, next}, share_dims, at.memory()));
    at.set_output(static_cast<int>(i), std::move(part));
    done = next;
  }
  return {};
}

status run_pieces(kernel_context& at) {
  const auto& form = at.state<pieces_form>();
  const auto& x = at.input(0);
  if (form.tells_dims) {
    TROUPE_ASSIGN(auto* dims, at.allocate(static_cast<int>(form.count), shape{x.rank()}));
    for (int axis = 0; axis < x.rank(); ++axis)
      dims->data<int64_t>()[axis] = x.dims()[axis];
  }
  if (!form.shares.empty())
    return cut_rows(at, form);
  for (int64_t i = 0; i < form.count; ++i) {
    auto piece_range = piece_of(x.elements(), x.type(), i, form.count);
    TROUPE_ASSIGN(auto part, part_of(x, piece_range, shape{piece_range.elements()}, at.memory()));
    at.set_output(static_cast<int>(i), std::move(part));
  }
  return {};
}

// -- _ReducePieces -----------------------------------------------------------------------------

struct reduce_form {
  int count;
  bool compares_dims;
  reduction by;
  int64_t divide_by;
  int own;
  std::vector<std::string> tasks;
};

result<std::shared_ptr<void>> prepare_reduce(const kernel_setup& setup) {
  const auto& merge = setup.origin.attr<std::string>("merge_op");
  auto merge_reduction = merge == "Mul"   ? reduction::product
                         : merge == "Min" ? reduction::min
                         : merge == "Max" ? reduction::max
                                          : reduction::sum;
  return std::shared_ptr<void>{std::make_shared<reduce_form>(
      static_cast<int>(setup.origin.attr<int64_t>("count")),
      setup.origin.attr<int64_t>("dims_count") > 0, merge_reduction,
      setup.origin.attr<int64_t>("divide_by"), static_cast<int>(setup.origin.attr<int64_t>("own")),
      setup.origin.attr<std::vector<std::string>>("tasks"))};
}

// The text of a shape. The extents may come from another process.
std::string text_of(const tensor& dims) {
  std::string text = "[";
  for (auto extent : dims.values<int64_t>().first(
           std::min<size_t>(static_cast<size_t>(dims.elements()), max_rank)))
    text += concat(text.size() > 1 ? "," : "", extent);
  return text + ']';
}

status differ(const reduce_form& form, int i, const auto& first, const auto& other) {
  return invalid("got ", other, " from ", form.tasks[static_cast<size_t>(i)], ", but ", first,
                 " from ", form.tasks[0], ": all members of a group must have one shape");
}

status run_reduce(kernel_context& at) {
  const auto& form = at.state<reduce_form>();
  for (int i = 1; form.compares_dims && i < form.count; ++i)
    if (const auto& first = at.input(form.count), &other = at.input(form.count + i);
        !identical(first, other))
      return differ(form, i, text_of(first), text_of(other));
  const auto& dims = at.input(0).dims();
  inplace_vector<const void*, 16> small_list;
  std::vector<const void*> large_list;
  std::span<const void* const> from;
  if (form.count <= 16) {
    for (int i = 0; i < form.count; ++i)
      small_list.push_back(at.input(i).raw());
    from = {small_list.begin(), small_list.size()};
  } else {
    for (int i = 0; i < form.count; ++i)
      large_list.push_back(at.input(i).raw());
    from = large_list;
  }
  for (int i = 1; i < form.count; ++i)
    if (!(at.input(i).dims() == dims))
      return differ(form, i, dims, at.input(i).dims());
  // A tensor that arrived from another task is not shared.
  auto candidate = form.own == 0 ? 1 : 0;
  TROUPE_ASSIGN(auto* sum, form.own >= 0 && candidate < form.count
                               ? at.forward_or_allocate(0, {candidate}, dims)
                               : at.allocate(0, dims));
  const auto type = at.output_type(0);
  at.parallel_for(dims.elements(),
                  nanoseconds_per_byte * static_cast<double>(size_of(type)) * form.count,
                  [&](int64_t begin, int64_t end) {
                    combine_and_divide(sum->raw(), from, begin, end, type, form.by, form.divide_by);
                  });
  return {};
}

// -- _JoinPieces, _JoinRows ----------------------------------------------------------------------

void copy_bytes(const kernel_context& at, char* to, const tensor& from) {
  const auto* bytes = static_cast<const char*>(from.raw());
  at.parallel_for(static_cast<int64_t>(from.bytes()), nanoseconds_per_byte,
                  [&](int64_t begin, int64_t end) {
                    std::memcpy(to + begin, bytes + begin, static_cast<size_t>(end - begin));
                  });
}

struct join_form {
  int count;
  dtype was_cut;
  shape dims; // used where no input provides the shape
};

result<std::shared_ptr<void>> prepare_join(const kernel_setup& setup) {
  auto has_like = setup.origin.attr<int64_t>("like_count") > 0;
  const auto& dims = setup.origin.attr<partial_shape>("shape");
  return std::shared_ptr<void>{std::make_shared<join_form>(
      static_cast<int>(setup.origin.attr<int64_t>("count")), setup.origin.attr<dtype>("U"),
      has_like || !dims.fully_known() ? shape{} : dims.known())};
}

status run_join(kernel_context& at) {
  const auto& form = at.state<join_form>();
  const auto& dims = at.inputs() > form.count ? at.input(form.count).dims() : form.dims;
  const auto elements = dims.elements();
  TROUPE_ASSIGN(auto* whole, at.allocate(0, dims));
  const auto width = size_of(at.output_type(0));
  for (int i = 0; i < form.count; ++i) {
    auto where = piece_of(elements, form.was_cut, i, form.count);
    const auto& part = at.input(i);
    if (part.elements() != where.elements())
      return invalid("piece ", i, " of ", form.count, " has ", part.elements(),
                     " elements, expected ", where.elements(),
                     ": all members of a group must have one shape");
    if (part.elements() > 0)
      copy_bytes(at, static_cast<char*>(whole->raw()) + static_cast<size_t>(where.begin) * width,
                 part);
  }
  return {};
}

struct rows_form {
  std::vector<int64_t> shares;
  std::vector<std::string> tasks;
};

result<std::shared_ptr<void>> prepare_rows(const kernel_setup& setup) {
  return std::shared_ptr<void>{
      std::make_shared<rows_form>(setup.origin.attr<std::vector<int64_t>>("shares"),
                                  setup.origin.attr<std::vector<std::string>>("tasks"))};
}

// The shape of one member's rows.
result<shape> dims_of_each(const tensor& rows, int64_t members) {
  if (rows.rank() == 0)
    return invalid("needs a first axis, got a scalar");
  auto dims = rows.dims();
  shape member_dims;
  member_dims.push_back(dims[0] / members);
  for (int axis = 1; axis < dims.rank(); ++axis)
    member_dims.push_back(dims[axis]);
  return member_dims;
}

status run_rows(kernel_context& at) {
  const auto& form = at.state<rows_form>();
  TROUPE_ASSIGN(auto first, dims_of_each(at.input(0), form.shares[0]));
  int64_t rows = 0;
  for (int i = 0; i < at.inputs(); ++i) {
    TROUPE_ASSIGN(auto other, dims_of_each(at.input(i), form.shares[static_cast<size_t>(i)]));
    if (!(other == first))
      return invalid("got ", other, " from ", form.tasks[static_cast<size_t>(i)], ", but ", first,
                     " from ", form.tasks[0], ": all members of a group must have one shape");
    if (at.input(i).dims()[0] > INT64_MAX - rows)
      return invalid("all rows are too many elements");
    rows += at.input(i).dims()[0];
  }
  shape dims;
  dims.push_back(rows);
  for (int axis = 1; axis < first.rank(); ++axis)
    dims.push_back(first[axis]);
  TROUPE_ASSIGN(auto* whole, at.allocate(0, dims));
  auto* to = static_cast<char*>(whole->raw());
  for (int i = 0; i < at.inputs(); ++i) {
    if (at.input(i).bytes() > 0)
      copy_bytes(at, to, at.input(i));
    to += at.input(i).bytes();
  }
  return {};
}

} // namespace

extern constexpr kernel_def pieces_cpu{
    .op = "_Pieces",
    .run = {{dtype::none, run_pieces}},
    .prepare = prepare_pieces,
};

extern constexpr kernel_def reduce_pieces_cpu{
    .op = "_ReducePieces",
    .run = {{dtype::none, run_reduce}},
    .prepare = prepare_reduce,
};

extern constexpr kernel_def join_pieces_cpu{
    .op = "_JoinPieces",
    .run = {{dtype::none, run_join}},
    .prepare = prepare_join,
};

extern constexpr kernel_def join_rows_cpu{
    .op = "_JoinRows",
    .run = {{dtype::none, run_rows}},
    .prepare = prepare_rows,
};

} // namespace troupe::ops::pieces_cpu
