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
status damaged(const Ts&... message) {
  return failure(error_kind::data_loss, "damaged statistics: ", message...);
}

// Bounds times to 146 years on either side of zero, so that differences of times do not overflow.
bool is_plausible(int64_t begin_ns, int64_t end_ns) {
  constexpr auto limit = std::numeric_limits<int64_t>::max() / 4;
  return begin_ns <= end_ns && begin_ns > -limit && end_ns < limit;
}

status read_subjects(capnp::List<wire::SpanSubject>::Reader from, std::vector<span_subject>& to) {
  for (auto subject : from) {
    if (subject.getKind() >= span_kinds)
      return damaged("a span is of the unknown kind ", int{subject.getKind()});
    to.push_back({static_cast<span_kind>(subject.getKind()), text_of(subject.getName()),
                  text_of(subject.getOp()), text_of(subject.getDevice()),
                  text_of(subject.getPeer()), subject.getKey(), subject.getRegion(),
                  subject.getMessages()});
  }
  return {};
}

result<message_counts> read_messages(wire::MessageCounts::Reader from) {
  message_counts counts{from.getStarts(),     from.getTokens(),  from.getRequests(),
                        from.getAnswers(),    from.getSends(),   from.getFetches(),
                        from.getRegionEnds(), from.getStepEnds()};
  constexpr auto limit = uint64_t{1} << 60; // so that sums do not overflow
  for (auto number : {counts.starts, counts.tokens, counts.requests, counts.answers, counts.sends,
                      counts.fetches, counts.region_ends, counts.step_ends})
    if (number >= limit)
      return damaged("a step had ", number, " messages");
  return counts;
}

void write_messages(const message_counts& counts, wire::MessageCounts::Builder to) {
  to.setStarts(counts.starts);
  to.setTokens(counts.tokens);
  to.setRequests(counts.requests);
  to.setAnswers(counts.answers);
  to.setSends(counts.sends);
  to.setFetches(counts.fetches);
  to.setRegionEnds(counts.region_ends);
  to.setStepEnds(counts.step_ends);
}

result<task_statistics> read(wire::TaskStatistics::Reader from) {
  task_statistics parsed;
  parsed.task = text_of(from.getTask());
  parsed.begin_ns = from.getBeginNs();
  parsed.end_ns = from.getEndNs();
  parsed.allocated_bytes = from.getAllocatedBytes();
  parsed.peak_bytes = from.getPeakBytes();
  TROUPE_ASSIGN(parsed.messages, read_messages(from.getMessages()));
  TROUPE_ASSIGN(parsed.expected_messages, read_messages(from.getExpectedMessages()));
  if (!is_plausible(parsed.begin_ns, parsed.end_ns))
    return damaged("the task began at ", parsed.begin_ns, " and ended at ", parsed.end_ns);
  auto subjects = std::make_shared<std::vector<span_subject>>();
  TROUPE_TRY(read_subjects(from.getSubjects(), *subjects));
  for (auto span : from.getSpans()) {
    if (span.getSubject() >= subjects->size())
      return damaged("a span is about subject ", span.getSubject(), " of ", subjects->size());
    if (!is_plausible(span.getBeginNs(), span.getEndNs()))
      return damaged("a span began at ", span.getBeginNs(), " and ended at ", span.getEndNs());
    parsed.spans.push_back({span.getSubject(), span.getThread(), span.getBeginNs(), span.getEndNs(),
                            span.getBytes(), span.getRuns()});
  }
  parsed.subjects = std::move(subjects);
  for (auto stored : from.getMemory()) {
    if (stored.getAtNs().size() != stored.getBytes().size())
      return damaged("a timeline has ", stored.getAtNs().size(), " moments and ",
                     stored.getBytes().size(), " values");
    memory_timeline timeline{.device = text_of(stored.getDevice())};
    for (auto time_ns : stored.getAtNs())
      timeline.at_ns.push_back(time_ns);
    for (auto bytes : stored.getBytes())
      timeline.bytes.push_back(bytes);
    if (!std::ranges::is_sorted(timeline.at_ns) ||
        (!timeline.at_ns.empty() && !is_plausible(timeline.at_ns.front(), timeline.at_ns.back())))
      return damaged("a timeline goes back in time");
    parsed.memory.push_back(std::move(timeline));
  }
  return parsed;
}

} // namespace

result<tensor> write_statistics(const task_statistics& statistics) {
  try {
    capnp::MallocMessageBuilder builder;
    auto to = builder.initRoot<wire::TaskStatistics>();
    to.setTask(as_text(statistics.task));
    to.setBeginNs(statistics.begin_ns);
    to.setEndNs(statistics.end_ns);
    to.setAllocatedBytes(statistics.allocated_bytes);
    to.setPeakBytes(statistics.peak_bytes);
    write_messages(statistics.messages, to.initMessages());
    write_messages(statistics.expected_messages, to.initExpectedMessages());
    if (statistics.subjects) {
      auto subjects = to.initSubjects(static_cast<unsigned>(statistics.subjects->size()));
      for (unsigned i = 0; i < subjects.size(); ++i) {
        const auto& from = (*statistics.subjects)[i];
        subjects[i].setKind(static_cast<uint8_t>(from.kind));
        subjects[i].setName(as_text(from.name));
        subjects[i].setOp(as_text(from.op));
        subjects[i].setDevice(as_text(from.device));
        subjects[i].setPeer(as_text(from.peer));
        subjects[i].setKey(from.key);
        subjects[i].setRegion(from.region);
        subjects[i].setMessages(from.messages);
      }
    }
    auto memory = to.initMemory(static_cast<unsigned>(statistics.memory.size()));
    for (unsigned i = 0; i < memory.size(); ++i) {
      const auto& from = statistics.memory[i];
      auto count = static_cast<unsigned>(std::min(from.at_ns.size(), from.bytes.size()));
      memory[i].setDevice(as_text(from.device));
      auto times = memory[i].initAtNs(count);
      auto bytes = memory[i].initBytes(count);
      for (unsigned k = 0; k < count; ++k) {
        times.set(k, from.at_ns[k]);
        bytes.set(k, from.bytes[k]);
      }
    }
    auto spans = to.initSpans(static_cast<unsigned>(statistics.spans.size()));
    for (unsigned i = 0; i < spans.size(); ++i) {
      const auto& from = statistics.spans[i];
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
    return damaged("their length is not a multiple of 8");
  auto words = kj::heapArray<capnp::word>(bytes.size() / sizeof(capnp::word));
  if (!bytes.empty())
    std::memcpy(static_cast<void*>(words.begin()), bytes.data(), bytes.size());
  capnp::ReaderOptions limits;
  // Pointers may refer to the same bytes many times; valid messages are read once.
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
