#include "troupe/ops/internal/expression.hpp"

#include "troupe/ops/kernel/strided_iterator.hpp"
#include "troupe/runtime/graph/graph.hpp"
#include "troupe/runtime/graph/registry.hpp"

#include <array>
#include <cstring>

namespace troupe::ops {
namespace {

// The part of the first-level cache for intermediate values; inputs and output use the remainder.
constexpr size_t scratch_bytes = 24 * 1024;
constexpr size_t max_tiled_bytes = 8 * 1024;
constexpr int64_t longest_piece = 2048;
// Rows shorter than this are repeated in memory, so that pieces need not end at a row's end.
constexpr int64_t short_row = 256;

std::byte* bytes_at(void* data, int64_t index, size_t size) {
  return static_cast<std::byte*>(data) + static_cast<size_t>(index) * size;
}

} // namespace

// The layout of an input relative to the output.
struct expression::operand {
  const std::byte* data = nullptr;
  size_t size = 0;    // bytes per element
  int64_t step = 1;   // 0: a single element
  int64_t period = 0; // length of a repeating row; 0: no repetition
  size_t tile = 0;    // offset of the repeated row in the scratch memory; 0: none
};

struct expression::pieces {
  std::array<operand, fused_stages::max_inputs> inputs;
  std::byte* to = nullptr;
  size_t to_size = 0;
  int64_t length = 0;
  int64_t row = 1; // ranges end at rows, so that results do not depend on their number
};

result<expression> expression::of(const node& fused) {
  expression fused_expression;
  TROUPE_ASSIGN(fused_expression.form_, fused_stages::decode(fused));
  for (const auto& stage : fused_expression.form_.stages) {
    auto* kernel = fused.graph().ops().find_kernel(stage.op->name, device_kind::cpu);
    auto* entry = kernel ? kernel->find(stage.operand_type) : nullptr;
    if (!entry || !entry->inner_loop || entry->accepts_second_input)
      return failure(error_kind::unimplemented, stage.op->name, " of ", stage.operand_type,
                     " cannot be part of an expression");
    fused_expression.loops_.push_back({.run = entry->inner_loop});
    fused_expression.cost_ += entry->cost;
  }
  fused_expression.assign_buffers();
  return fused_expression;
}

// A buffer is reused after the last read of its value: by the reading stage if the types are equal,
// otherwise by later stages.
void expression::assign_buffers() {
  std::vector<size_t> last_use(form_.inputs + form_.stages.size(), 0);
  for (size_t i = 0; i < form_.stages.size(); ++i)
    for (size_t k = 0; k < form_.stages[i].arity; ++k)
      last_use[form_.stages[i].operands[k]] = i;
  std::vector<size_t> free;
  for (size_t i = 0; i + 1 < form_.stages.size(); ++i) { // the last stage writes the output
    const auto& at = form_.stages[i];
    widest_ = std::max(widest_, size_of(at.type));
    std::vector<size_t> in_place, released;
    for (size_t k = 0; k < at.arity; ++k) {
      auto value = at.operands[k];
      if (value < form_.inputs || last_use[value] != i || (k == 1 && at.operands[0] == value))
        continue;
      const auto& from = form_.stages[value - form_.inputs];
      (from.type == at.type ? in_place : released).push_back(loops_[value - form_.inputs].buffer);
    }
    auto& source = in_place.empty() ? free : in_place;
    if (source.empty())
      source.push_back(buffers_++);
    loops_[i].buffer = source.back();
    source.pop_back();
    free.insert(free.end(), in_place.begin(), in_place.end());
    free.insert(free.end(), released.begin(), released.end());
  }
}

// Determines for each input whether it is one element, as large as the output, or a repeating row.
bool expression::classify(const kernel_context& at, const shape& dims, pieces& layout) const {
  size_t tiled_bytes = 0, tiles = 0;
  auto elements = dims.elements();
  for (size_t i = 0; i < form_.inputs; ++i) {
    const auto& input = at.input(static_cast<int>(i));
    auto& as = layout.inputs[i];
    as = {static_cast<const std::byte*>(input.raw()), size_of(input.type()), 1, 0, 0};
    if (input.elements() == elements)
      continue;
    if (input.elements() == 1) {
      as.step = 0;
      continue;
    }
    auto row = input.dims().extents();
    while (!row.empty() && row.front() == 1)
      row = row.subspan(1);
    if (!std::ranges::equal(row, dims.extents().last(row.size())))
      return false;
    as.period = input.elements();
    auto bytes = static_cast<size_t>(as.period) * as.size;
    if (as.period < short_row && tiled_bytes + bytes <= max_tiled_bytes) {
      as.tile = 1; // the final offset follows from the length of the pieces
      tiled_bytes += bytes;
      tiles += as.size;
    } else {
      layout.row = std::max(layout.row, as.period); // shorter periods divide it
    }
  }
  auto per_element = buffers_ * widest_ + tiles;
  layout.length = std::clamp<int64_t>(
      static_cast<int64_t>((scratch_bytes - tiled_bytes) / std::max<size_t>(per_element, 1)) / 16 *
          16,
      16, longest_piece);
  auto next = buffers_ * widest_ * static_cast<size_t>(layout.length);
  for (size_t i = 0; i < form_.inputs; ++i)
    if (auto& as = layout.inputs[i]; as.tile) {
      as.tile = (next + tensor_alignment - 1) / tensor_alignment * tensor_alignment;
      next = as.tile + static_cast<size_t>(layout.length + as.period) * as.size;
    }
  return true;
}

void expression::run_range(const pieces& layout, int64_t begin, int64_t end) const {
  alignas(tensor_alignment)
      std::byte scratch[scratch_bytes + fused_stages::max_inputs * tensor_alignment];
  for (size_t i = 0; i < form_.inputs; ++i)
    if (const auto& as = layout.inputs[i]; as.tile) {
      auto length = static_cast<size_t>(layout.length + as.period) * as.size,
           row = static_cast<size_t>(as.period) * as.size;
      for (size_t done = 0; done < length; done += row)
        std::memcpy(scratch + as.tile + done, as.data, std::min(row, length - done));
    }
  while (begin < end) {
    auto count = std::min(layout.length, end - begin);
    for (size_t i = 0; i < form_.inputs; ++i)
      if (const auto& as = layout.inputs[i]; as.period && !as.tile)
        count = std::min(count, as.period - begin % as.period);
    for (size_t s = 0; s < form_.stages.size(); ++s) {
      const auto& stage = form_.stages[s];
      const void* from[2];
      int64_t steps[2];
      for (size_t k = 0; k < stage.arity; ++k) {
        auto value = stage.operands[k];
        steps[k] = 1;
        if (value >= form_.inputs) {
          from[k] = scratch + loops_[value - form_.inputs].buffer * widest_ *
                                  static_cast<size_t>(layout.length);
          continue;
        }
        const auto& as = layout.inputs[value];
        steps[k] = as.step;
        auto offset = as.period ? begin % as.period : begin * as.step;
        from[k] = (as.tile ? scratch + as.tile : as.data) + static_cast<size_t>(offset) * as.size;
      }
      auto* to = s + 1 == form_.stages.size()
                     ? bytes_at(layout.to, begin, layout.to_size)
                     : scratch + loops_[s].buffer * widest_ * static_cast<size_t>(layout.length);
      loops_[s].run(from, steps, to, count);
    }
    begin += count;
  }
}

// Used where an intermediate value is smaller than the output, or an input has no simple layout
// relative to the output.
status expression::run_stage_by_stage(kernel_context& at, const fused_stages::shapes& dims) const {
  std::vector<tensor> values;
  for (size_t i = 0; i < form_.inputs; ++i)
    values.push_back(at.input(static_cast<int>(i)));
  for (size_t s = 0; s < form_.stages.size(); ++s) {
    const auto& stage = form_.stages[s];
    TROUPE_ASSIGN(auto stage_output, tensor::make(stage.type, *dims.by_stage[s], at.memory()));
    const auto &a = values[stage.operands[0]], &b = values[stage.operands[stage.arity - 1]];
    auto plan = strided_iterator::broadcast(*dims.by_stage[s], a.dims(), b.dims());
    auto size = size_of(a.type());
    at.parallel_for(stage_output.elements(), cost_, [&](int64_t begin, int64_t end) {
      plan.runs(begin, end, [&](int64_t i, const strided_iterator::offsets& where, int64_t count) {
        const void* from[] = {bytes_at(a.raw(), where[0], size), bytes_at(b.raw(), where[1], size)};
        int64_t steps[] = {plan.step(0), plan.step(1)};
        loops_[s].run(from, steps, bytes_at(stage_output.raw(), i, size_of(stage.type)), count);
      });
    });
    values.push_back(std::move(stage_output));
  }
  at.set_output(0, std::move(values.back()));
  return {};
}

status expression::run(kernel_context& at) const {
  fused_stages::shapes dims;
  TROUPE_TRY(form_.find_shapes(at, dims));
  const auto& last = *dims.by_stage[form_.stages.size() - 1];
  auto is_last = [&](const shape* stage_dims) { return *stage_dims == last; };
  pieces layout;
  if (!std::all_of(dims.by_stage.begin(), dims.by_stage.begin() + form_.stages.size(), is_last) ||
      !classify(at, last, layout))
    return run_stage_by_stage(at, dims);
  const auto result_dims = last; // an input of this shape may become the output
  TROUPE_ASSIGN(auto* out,
                at.forward_or_allocate(0, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
                                       result_dims));
  layout.to = static_cast<std::byte*>(out->raw());
  layout.to_size = size_of(out->type());
  at.parallel_for(
      out->elements() / layout.row, cost_ * static_cast<double>(layout.row),
      [&](int64_t begin, int64_t end) { run_range(layout, begin * layout.row, end * layout.row); });
  return {};
}

} // namespace troupe::ops
