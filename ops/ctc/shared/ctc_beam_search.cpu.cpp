#include "troupe/ops/ctc/shared/ctc_beam_search.cpu.hpp"

#include <algorithm>

namespace troupe::ops {

ctc_beam::ctc_beam(int64_t classes, int64_t width) : classes_(classes), width_(width) {
  sequences_.push_back({.now = {.blank = 0, .label = zero, .total = 0}});
  keep(0);
}

double ctc_beam::add(double a, double b) {
  auto larger = std::max(a, b), smaller = std::min(a, b);
  return smaller == zero ? larger : larger + std::log1p(std::exp(smaller - larger));
}

// Of equal sequences, the first created is better.
bool ctc_beam::better(int32_t a, int32_t b) const {
  return at(a).now.total > at(b).now.total || (at(a).now.total == at(b).now.total && a < b);
}

void ctc_beam::keep(int32_t sequence_index) {
  auto order = [this](int32_t a, int32_t b) { return better(a, b); };
  at(sequence_index).kept = true;
  beam_.push_back(sequence_index);
  std::ranges::push_heap(beam_, order);
}

std::vector<int32_t> ctc_beam::sorted() const {
  auto order = beam_;
  std::ranges::sort(order, [this](int32_t a, int32_t b) { return better(a, b); });
  return order;
}

void ctc_beam::step(std::span<const double> logs) {
  auto members = sorted();
  beam_.clear();
  for (auto member : members)
    at(member).before = at(member).now;
  for (auto member : members) {
    auto& s = at(member);
    if (s.parent >= 0) {
      const auto& parent = at(s.parent);
      // A label equal to its predecessor counts again only after a blank.
      if (parent.kept)
        s.now.label =
            add(s.now.label, s.label == parent.label ? parent.before.blank : parent.before.total);
      s.now.label += logs[static_cast<size_t>(s.label)];
    }
    s.now.blank = s.before.total + logs.back();
    s.now.total = add(s.now.blank, s.now.label);
    keep(member);
  }
  for (auto member : members)
    extend(member, logs);
}

void ctc_beam::extend(int32_t prefix, std::span<const double> logs) {
  auto order = [this](int32_t a, int32_t b) { return better(a, b); };
  auto is_candidate = [&](double total) {
    return total > zero && (size() < width_ || total > at(beam_.front()).now.total);
  };
  auto from = at(prefix);
  if (!is_candidate(from.before.total))
    return;
  for (int32_t label = 0; label < classes_ - 1; ++label) {
    auto total = logs[static_cast<size_t>(label)] +
                 (label == from.label ? from.before.blank : from.before.total);
    auto existing = children_.find(prefix * classes_ + label);
    if (existing != children_.end() && at(existing->second).kept)
      continue;
    if (!is_candidate(total)) {
      // A sequence that has left the beam in this step, and does not return, is not extended
      // either.
      if (existing != children_.end())
        at(existing->second).before = {};
      continue;
    }
    auto next = static_cast<int32_t>(sequences_.size());
    auto [child_entry, is_new] = children_.try_emplace(prefix * classes_ + label, next);
    if (is_new)
      sequences_.push_back({.parent = prefix, .label = label});
    auto& child = at(child_entry->second);
    if (size() == width_) {
      at(beam_.front()).kept = false;
      std::ranges::pop_heap(beam_, order);
      beam_.pop_back();
    }
    child.now = {.blank = zero, .label = total, .total = total};
    keep(child_entry->second);
  }
}

std::vector<ctc_beam::path> ctc_beam::best(int64_t count, bool merge_repeated) const {
  std::vector<path> paths;
  auto members = sorted();
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
    path decoded{{}, at(members[i]).now.total};
    int32_t behind = -1;
    for (auto current = members[i]; at(current).parent >= 0; current = at(current).parent) {
      if (!merge_repeated || at(current).label != behind)
        decoded.labels.push_back(at(current).label);
      behind = at(current).label;
    }
    std::ranges::reverse(decoded.labels);
    paths.push_back(std::move(decoded));
  }
  return paths;
}

} // namespace troupe::ops
