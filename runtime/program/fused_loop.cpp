#include "troupe/runtime/program/fused_loop.hpp"

#include "troupe/runtime/program/fused_loop_writer.hpp"

#include <algorithm>
#include <cstring>

namespace troupe {
namespace {

// The estimated time between two checks of the deadline, which take about 30 ns each.
constexpr int64_t check_interval_ns = 10'000;

} // namespace

std::shared_ptr<const fused_loop> fused_loop::write(const function& condition, const function& body,
                                                    std::span<const tensor> initial) {
  return fused_loop_writer{}.write(condition, body, initial);
}

bool fused_loop::takes(std::span<const tensor> variables) const noexcept {
  for (size_t i = 0; i < variables_.size(); ++i)
    if (const auto& cell = variables_[i];
        cell.used && (variables[i].type() != cell.type || !(variables[i].dims() == cell.dims) ||
                      !variables[i].on_host()))
      return false;
  return true;
}

result<fused_loop::outcome> fused_loop::run(std::span<tensor> variables, allocator& memory,
                                            stop_signal& stop, int64_t& iterations) const {
  alignas(tensor_alignment) std::byte in_place[4096];
  tensor on_heap;
  auto* cells = in_place;
  if (initial_.size() > sizeof in_place) {
    TROUPE_ASSIGN(on_heap,
                  tensor::make(dtype::u8, {static_cast<int64_t>(initial_.size())}, memory));
    cells = static_cast<std::byte*>(on_heap.raw());
  }
  std::memcpy(cells, initial_.data(), initial_.size());
  for (size_t i = 0; i < variables_.size(); ++i)
    if (const auto& cell = variables_[i]; cell.used)
      std::memcpy(cells + cell.offset, variables[i].raw(), variables[i].bytes());
  auto end = run_cells(cells, stop, iterations);
  if (end == outcome::stopped)
    return end;
  for (size_t i = 0; i < variables_.size(); ++i)
    if (const auto& cell = variables_[i]; cell.changes) {
      TROUPE_ASSIGN(variables[i], tensor::make(cell.type, cell.dims, memory));
      std::memcpy(variables[i].raw(), cells + cell.offset, variables[i].bytes());
    }
  return end;
}

fused_loop::outcome fused_loop::run_cells(std::byte* cells, stop_signal& stop,
                                          int64_t& iterations) const {
  if (stop.is_due()) [[unlikely]]
    return outcome::stopped;
  const auto* position = code_.data();
  for (int64_t unchecked_ns = 0;;) {
    switch (position->operation) {
      case opcode::compute: {
        const void* operands[] = {cells + position->from[0], cells + position->from[1],
                                  cells + position->from[2]};
        position->run(operands, position->steps, cells + position->to, position->count);
        ++position;
        break;
      }
      case opcode::check:
        if (!position->takes(cells + position->from[1], position->count))
          return outcome::failed;
        ++position;
        break;
      case opcode::copy:
        std::memcpy(cells + position->to, cells + position->from[0], position->count);
        ++position;
        break;
      case opcode::branch:
        position = std::to_integer<bool>(cells[position->from[0]])
                       ? position + 1
                       : code_.data() + position->target;
        break;
      case opcode::choose: {
        uint32_t branch;
        std::memcpy(&branch, cells + position->from[0], sizeof branch);
        position =
            code_.data() + targets_[position->target + std::min(branch, position->count - 1)];
        break;
      }
      case opcode::iterate:
        iterations += position->outermost;
        if ((unchecked_ns += position->count) > check_interval_ns) [[unlikely]] {
          unchecked_ns = 0;
          if (stop.is_due())
            return outcome::stopped;
        }
        [[fallthrough]];
      case opcode::jump: position = code_.data() + position->target; break;
      case opcode::end: return outcome::ended;
    }
  }
}

std::shared_ptr<const fused_loop> fused_loops::find(std::span<const tensor> variables) {
  std::lock_guard guard{mutex_};
  for (auto known = known_.begin(); known != known_.end(); ++known)
    if ((*known)->takes(variables)) {
      std::rotate(known, known + 1, known_.end());
      return known_.back();
    }
  if (failures_ == max_failures || written_ == max_written)
    return nullptr;
  // Later runs may have other types than the failed ones: tries again, ever more rarely.
  if (failures_ > 0 && skipped_++ < (uint64_t{1} << failures_))
    return nullptr;
  skipped_ = 0;
  const auto functions = functions_of(loop_);
  auto written = fused_loop::write(*functions[0]->body, *functions[1]->body, variables);
  if (!written) {
    ++failures_;
    return nullptr;
  }
  ++written_;
  failures_ = 0;
  if (known_.size() == max_kept)
    known_.erase(known_.begin());
  return known_.emplace_back(std::move(written));
}

} // namespace troupe
