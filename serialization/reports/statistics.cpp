#include "troupe/serialization/reports/statistics.hpp"

#include "troupe/serialization/wire/capnp_text.hpp"
#include "troupe/serialization/wire/payload.hpp"
#include "troupe/serialization/wire/wire.capnp.h"

#include <capnp/message.h>
#include <capnp/serialize.h>
#include <kj/exception.h>

#include <algorithm>
#include <limits>

namespace troupe {
namespace {

template <class... Ts>
status damaged(const Ts&... parts) {
  return failure(error_kind::data_loss, "damaged statistics: ", parts...);
}

// A time that somebody subtracts from another must not overflow: 146 years on either side of zero.
bool sane(int64_t begin_ns, int64_t end_ns) {
  constexpr auto limit = std::numeric_limits<int64_t>::max() / 4;
  return begin_ns <= end_ns && begin_ns > -limit && end_ns < limit;
}

status read_subjects(capnp::List<wire::SpanSubject>::Reader from, std::vector<span_subject>& to) {
  for (auto each : from) {
    if (each.getKind() >= span_kinds)
      return damaged("a span is of the unknown kind ", int{each.getKind()});
    to.push_back({static_cast<span_kind>(each.getKind()), text_of(each.getName()),
                  text_of(each.getOp()), text_of(each.getDevice()), text_of(each.getPeer()),
                  each.getKey(), each.getRegion()});
  }
  return {};
}

result<task_statistics> read(wire::TaskStatistics::Reader from) {
  task_statistics made;
  made.task = text_of(from.getTask());
  made.begin_ns = from.getBeginNs();
  made.end_ns = from.getEndNs();
  made.allocated_bytes = from.getAllocatedBytes();
  made.peak_bytes = from.getPeakBytes();
  if (!sane(made.begin_ns, made.end_ns))
    return damaged("the task began at ", made.begin_ns, " and ended at ", made.end_ns);
  auto subjects = std::make_shared<std::vector<span_subject>>();
  TROUPE_TRY(read_subjects(from.getSubjects(), *subjects));
  for (auto each : from.getSpans()) {
    if (each.getSubject() >= subjects->size())
      return damaged("a span is about subject ", each.getSubject(), " of ", subjects->size());
    if (!sane(each.getBeginNs(), each.getEndNs()))
      return damaged("a span began at ", each.getBeginNs(), " and ended at ", each.getEndNs());
    made.spans.push_back({each.getSubject(), each.getThread(), each.getBeginNs(), each.getEndNs(),
                          each.getBytes(), each.getRuns()});
  }
  made.subjects = std::move(subjects);
  for (auto each : from.getMemory()) {
    if (each.getAtNs().size() != each.getBytes().size())
      return damaged("a timeline has ", each.getAtNs().size(), " moments and ",
                     each.getBytes().size(), " values");
    memory_timeline one{.device = text_of(each.getDevice())};
    for (auto at : each.getAtNs())
      one.at_ns.push_back(at);
    for (auto bytes : each.getBytes())
      one.bytes.push_back(bytes);
    if (!std::ranges::is_sorted(one.at_ns) ||
        (!one.at_ns.empty() && !sane(one.at_ns.front(), one.at_ns.back())))
      return damaged("a timeline goes back in time");
    made.memory.push_back(std::move(one));
  }
  return made;
}

} // namespace

result<tensor> write_statistics(const task_statistics& what) {
  try {
    capnp::MallocMessageBuilder builder;
    auto to = builder.initRoot<wire::TaskStatistics>();
    to.setTask(as_text(what.task));
    to.setBeginNs(what.begin_ns);
    to.setEndNs(what.end_ns);
    to.setAllocatedBytes(what.allocated_bytes);
    to.setPeakBytes(what.peak_bytes);
    if (what.subjects) {
      auto subjects = to.initSubjects(static_cast<unsigned>(what.subjects->size()));
      for (unsigned i = 0; i < subjects.size(); ++i) {
        const auto& from = (*what.subjects)[i];
        subjects[i].setKind(static_cast<uint8_t>(from.kind));
        subjects[i].setName(as_text(from.name));
        subjects[i].setOp(as_text(from.op));
        subjects[i].setDevice(as_text(from.device));
        subjects[i].setPeer(as_text(from.peer));
        subjects[i].setKey(from.key);
        subjects[i].setRegion(from.region);
      }
    }
    auto memory = to.initMemory(static_cast<unsigned>(what.memory.size()));
    for (unsigned i = 0; i < memory.size(); ++i) {
      const auto& from = what.memory[i];
      auto count = static_cast<unsigned>(std::min(from.at_ns.size(), from.bytes.size()));
      memory[i].setDevice(as_text(from.device));
      auto at = memory[i].initAtNs(count);
      auto bytes = memory[i].initBytes(count);
      for (unsigned k = 0; k < count; ++k) {
        at.set(k, from.at_ns[k]);
        bytes.set(k, from.bytes[k]);
      }
    }
    auto spans = to.initSpans(static_cast<unsigned>(what.spans.size()));
    for (unsigned i = 0; i < spans.size(); ++i) {
      const auto& from = what.spans[i];
      spans[i].setSubject(from.subject);
      spans[i].setThread(from.thread);
      spans[i].setBeginNs(from.begin_ns);
      spans[i].setEndNs(from.end_ns);
      spans[i].setBytes(from.bytes);
      spans[i].setRuns(from.runs);
    }
    auto words = capnp::messageToFlatArray(builder);
    auto bytes = words.asBytes();
    return bytes_to_tensor({reinterpret_cast<const std::byte*>(bytes.begin()), bytes.size()});
  } catch (const kj::Exception& thrown) {
    return failure(error_kind::resource_exhausted,
                   "statistics: ", std::string_view{thrown.getDescription().cStr()});
  }
}

result<task_statistics> read_statistics(std::span<const std::byte> bytes) {
  if (bytes.size() % sizeof(capnp::word) != 0)
    return damaged("their length is no multiple of 8");
  auto words = kj::heapArray<capnp::word>(bytes.size() / sizeof(capnp::word));
  if (!bytes.empty())
    std::memcpy(static_cast<void*>(words.begin()), bytes.data(), bytes.size());
  capnp::ReaderOptions limits;
  // Pointers may lead to the same bytes many times; honest bytes are read once.
  limits.traversalLimitInWords = 2 * words.size() + 1024;
  limits.nestingLimit = 8;
  try {
    capnp::FlatArrayMessageReader reader{words, limits};
    return read(reader.getRoot<wire::TaskStatistics>());
  } catch (const kj::Exception& thrown) {
    return damaged(thrown.getDescription().cStr());
  }
}

} // namespace troupe
