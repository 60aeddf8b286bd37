#include "troupe/ops/ctc/shared/ctc_beam_search.cpu.hpp"

#include <algorithm>

namespace troupe::ops {

ctc_beam::ctc_beam(int64_t classes, int64_t width) : classes_(classes), width_(width) {
  all_.push_back({.now = {.blank = 0, .label = zero, .total = 0}});
  keep(0);
}

double ctc_beam::add(double a, double b) {
  auto most = std::max(a, b), least = std::min(a, b);
  return least == zero ? most : most + std::log1p(std::exp(least - most));
}

// Among equals the one that came first.
bool ctc_beam::better(int32_t a, int32_t b) const {
  return at(a).now.total > at(b).now.total || (at(a).now.total == at(b).now.total && a < b);
}

void ctc_beam::keep(int32_t which) {
  auto order = [this](int32_t a, int32_t b) { return better(a, b); };
  at(which).kept = true;
  beam_.push_back(which);
  std::ranges::push_heap(beam_, order);
}

std::vector<int32_t> ctc_beam::sorted() const {
  auto all = beam_;
  std::ranges::sort(all, [this](int32_t a, int32_t b) { return better(a, b); });
  return all;
}

void ctc_beam::step(std::span<const double> logs) {
  auto members = sorted();
  beam_.clear();
  for (auto one : members)
    at(one).before = at(one).now;
  for (auto one : members) {
    auto& s = at(one);
    if (s.parent >= 0) {
      const auto& parent = at(s.parent);
      // A label like the one before counts again only after a blank.
      if (parent.kept)
        s.now.label =
            add(s.now.label, s.label == parent.label ? parent.before.blank : parent.before.total);
      s.now.label += logs[static_cast<size_t>(s.label)];
    }
    s.now.blank = s.before.total + logs.back();
    s.now.total = add(s.now.blank, s.now.label);
    keep(one);
  }
  for (auto one : members)
    extend(one, logs);
}

void ctc_beam::extend(int32_t by, std::span<const double> logs) {
  auto order = [this](int32_t a, int32_t b) { return better(a, b); };
  auto is_candidate = [&](double total) {
    return total > zero && (size() < width_ || total > at(beam_.front()).now.total);
  };
  auto from = at(by);
  if (!is_candidate(from.before.total))
    return;
  for (int32_t label = 0; label < classes_ - 1; ++label) {
    auto total = logs[static_cast<size_t>(label)] +
                 (label == from.label ? from.before.blank : from.before.total);
    auto known = children_.find(by * classes_ + label);
    if (known != children_.end() && at(known->second).kept)
      continue;
    if (!is_candidate(total)) {
      // One that has left the beam in this step, and does not come back, is not extended either.
      if (known != children_.end())
        at(known->second).before = {};
      continue;
    }
    auto next = static_cast<int32_t>(all_.size());
    auto [found, fresh] = children_.try_emplace(by * classes_ + label, next);
    if (fresh)
      all_.push_back({.parent = by, .label = label});
    auto& child = at(found->second);
    if (size() == width_) {
      at(beam_.front()).kept = false;
      std::ranges::pop_heap(beam_, order);
      beam_.pop_back();
    }
    child.now = {.blank = zero, .label = total, .total = total};
    keep(found->second);
  }
}

std::vector<ctc_beam::path> ctc_beam::best(int64_t count, bool merge_repeated) const {
  std::vector<path> paths;
  auto members = sorted();
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
    path found{{}, at(members[i]).now.total};
    int32_t behind = -1;
    for (auto one = members[i]; at(one).parent >= 0; one = at(one).parent) {
      if (!merge_repeated || at(one).label != behind)
        found.labels.push_back(at(one).label);
      behind = at(one).label;
    }
    std::ranges::reverse(found.labels);
    paths.push_back(std::move(found));
  }
  return paths;
}

} // namespace troupe::ops
