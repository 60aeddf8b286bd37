#include "troupe/runtime/cluster/directory_link.hpp"

#include <algorithm>
#include <cassert>

namespace troupe {
namespace {

// Upper bounds of bytes on the wire. They also limit the number of rows.
constexpr size_t per_row = 64, per_node = 24, per_task = 72;

size_t size_on_wire(const directory_row& row) {
  auto bytes = per_row;
  for (const auto& node : row.nodes)
    bytes += per_node + node.size();
  for (const auto& entry : row.tasks)
    bytes += per_task + entry.task.job.size() + entry.address.size();
  return bytes;
}

long long milliseconds_of(std::chrono::steady_clock::duration time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
}

} // namespace

status directory_link::check_silence(time_point now) const {
  if (!role && now - began_at_ >= limits_.introduction) // other messages do not count
    return failure(error_kind::unavailable, "it has not introduced itself as a directory for ",
                   milliseconds_of(now - began_at_), " ms");
  auto silence = now - heard_at_;
  if (silence >= limits_.silent)
    return failure(error_kind::unavailable, "nothing was heard from it for ",
                   milliseconds_of(silence), " ms");
  return {};
}

bool directory_link::take_beat(time_point now) {
  if (now < next_beat_)
    return false;
  next_beat_ = now + limits_.beat;
  return true;
}

bool directory_link::grant_again(time_point now) {
  if (now < next_grant_)
    return false;
  next_grant_ = now + limits_.beat / 2;
  return true;
}

void directory_output::restart(std::set<uint64_t> processes) {
  unsent_ = std::move(processes);
  restarts_ = true;
  sends_complete_ = false;
}

std::optional<directory_list>
directory_output::next_list(const directory_table& table,
                            const std::function<bool(uint64_t process)>& is_listed,
                            time_point now) {
  if (!has_unsent() || now < next_list_)
    return {};
  next_list_ = now + limits_.batch;
  directory_list list{.sequence = ++sequence_, .is_complete = std::exchange(restarts_, false)};
  auto is_part_of_complete = list.is_complete || sends_complete_;
  for (size_t bytes = 0; !unsent_.empty();) {
    auto next = *unsent_.begin();
    const auto* row = table.find(next);
    auto lists = is_listed(next);
    assert(row || !lists);
    if (!lists && !is_part_of_complete)
      row = nullptr;
    bytes += per_row + (row ? size_on_wire(*row) : 0);
    if (bytes > limits_.list_bytes && list.rows.size() + list.lost.size() + list.left.size() > 0)
      break;
    if (row)
      list.rows.push_back(*row);
    if (!lists)
      (table.has_left(next) ? list.left : list.lost).push_back(next);
    unsent_.erase(unsent_.begin());
  }
  list.has_more = is_part_of_complete && !unsent_.empty();
  sends_complete_ = list.has_more;
  return list;
}

bool directory_input::accept(const directory_list& received, const std::set<uint64_t>& listed) {
  if (received.sequence <= sequence_)
    return false; // repeated, or late
  if (!received.is_complete && received.sequence != sequence_ + 1) {
    wants_again_ = true;
    return false;
  }
  sequence_ = received.sequence;
  sender_is_informed_ = received.is_informed;
  if (received.is_complete) {
    not_yet_listed_ = listed;
    receives_complete_ = true;
    wants_again_ = false;
  }
  return true;
}

std::set<uint64_t> directory_input::take_unlisted(const directory_list& received) {
  for (const auto& row : received.rows)
    not_yet_listed_.erase(row.process);
  if (!receives_complete_ || received.has_more)
    return {};
  receives_complete_ = false;
  has_complete_ = true;
  return std::exchange(not_yet_listed_, {});
}

void directory_input::accept(const directory_beat& received) {
  wants_again_ |= received.sequence != sequence_;
  sender_is_informed_ = received.is_informed;
}

bool directory_input::take_again(time_point now) {
  if (!wants_again_ || now < next_again_)
    return false;
  wants_again_ = false;
  next_again_ = now + limits_.beat;
  return true;
}

size_t directory_links::count_to(uint64_t process) const {
  auto entry = peers_.find(process);
  return entry == peers_.end() ? 0 : entry->second;
}

bool directory_links::are_informed() const {
  return std::ranges::any_of(*this, [](const auto& entry) { return entry.second.is_informed(); });
}

size_t directory_links::room(directory_role role, const directory_limits& limits) const noexcept {
  if (role == directory_role::node)
    return SIZE_MAX;
  return limits.links_of_guest - std::min(limits.links_of_guest, peers_.size());
}

void directory_links::introduce(directory_link& to, directory_role role, uint64_t process) {
  assert(!to.role);
  to.role = role;
  to.process = process;
  ++peers_[process];
}

directory_link directory_links::take(directory_table::link ended) {
  auto former = std::move(extract(ended).mapped());
  if (former.role && --peers_.at(former.process) == 0)
    peers_.erase(former.process);
  return former;
}

void directory_links::touch(uint64_t process) {
  for (auto& [id, to] : *this)
    if (to.role && to.process != process)
      to.output.touch(process);
}

} // namespace troupe
