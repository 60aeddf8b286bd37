#include "troupe/runtime/program/fused_loop.hpp"

#include "troupe/runtime/program/fused_loop_writer.hpp"

#include <algorithm>
#include <cstring>

namespace troupe {
namespace {

// By estimate: a look takes some 30 ns.
constexpr int64_t nanoseconds_per_look = 10'000;

} // namespace

std::shared_ptr<const fused_loop> fused_loop::of(const function& condition, const function& body,
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
                                            stop_signal& stop, int64_t& turn) const {
  alignas(tensor_alignment) std::byte near[4096];
  tensor far;
  auto* cells = near;
  if (initial_.size() > sizeof near) {
    TROUPE_ASSIGN(far, tensor::make(dtype::u8, {static_cast<int64_t>(initial_.size())}, memory));
    cells = static_cast<std::byte*>(far.raw());
  }
  std::memcpy(cells, initial_.data(), initial_.size());
  for (size_t i = 0; i < variables_.size(); ++i)
    if (const auto& cell = variables_[i]; cell.used)
      std::memcpy(cells + cell.offset, variables[i].raw(), variables[i].bytes());
  auto how = run_cells(cells, stop, turn);
  if (how == outcome::stopped)
    return how;
  for (size_t i = 0; i < variables_.size(); ++i)
    if (const auto& cell = variables_[i]; cell.changes) {
      TROUPE_ASSIGN(variables[i], tensor::make(cell.type, cell.dims, memory));
      std::memcpy(variables[i].raw(), cells + cell.offset, variables[i].bytes());
    }
  return how;
}

fused_loop::outcome fused_loop::run_cells(std::byte* cells, stop_signal& stop,
                                          int64_t& turn) const {
  if (stop.due()) [[unlikely]]
    return outcome::stopped;
  const auto* at = code_.data();
  for (int64_t since_look = 0;;) {
    switch (at->what) {
      case opcode::compute: {
        const void* from[] = {cells + at->from[0], cells + at->from[1], cells + at->from[2]};
        at->run(from, at->steps, cells + at->to, at->count);
        ++at;
        break;
      }
      case opcode::check:
        if (!at->takes(cells + at->from[1], at->count))
          return outcome::failed;
        ++at;
        break;
      case opcode::copy:
        std::memcpy(cells + at->to, cells + at->from[0], at->count);
        ++at;
        break;
      case opcode::branch:
        at = std::to_integer<bool>(cells[at->from[0]]) ? at + 1 : code_.data() + at->target;
        break;
      case opcode::choose: {
        uint32_t which;
        std::memcpy(&which, cells + at->from[0], sizeof which);
        at = code_.data() + targets_[at->target + std::min(which, at->count - 1)];
        break;
      }
      case opcode::turn:
        turn += at->outermost;
        if ((since_look += at->count) > nanoseconds_per_look) [[unlikely]] {
          since_look = 0;
          if (stop.due())
            return outcome::stopped;
        }
        [[fallthrough]];
      case opcode::jump: at = code_.data() + at->target; break;
      case opcode::end: return outcome::ended;
    }
  }
}

std::shared_ptr<const fused_loop> fused_loops::find(std::span<const tensor> variables) {
  std::lock_guard guard{mutex_};
  for (auto it = known_.begin(); it != known_.end(); ++it)
    if ((*it)->takes(variables)) {
      std::rotate(it, it + 1, known_.end());
      return known_.back();
    }
  if (failures_ == most_failures || written_ == most_written)
    return nullptr;
  // What a few runs brought may not be what most bring: it is tried ever more rarely.
  if (failures_ > 0 && skipped_++ < (uint64_t{1} << failures_))
    return nullptr;
  skipped_ = 0;
  const auto functions = functions_of(loop_);
  auto made = fused_loop::of(*functions[0]->body, *functions[1]->body, variables);
  if (!made) {
    ++failures_;
    return nullptr;
  }
  ++written_;
  failures_ = 0;
  if (known_.size() == most_kept)
    known_.erase(known_.begin());
  return known_.emplace_back(std::move(made));
}

} // namespace troupe
