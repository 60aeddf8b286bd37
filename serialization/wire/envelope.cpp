// Reads the part of a message that its receiver needs before it allocates memory for payloads.
#include "troupe/serialization/wire/messages.hpp"
#include "troupe/serialization/wire/read_root.hpp"

namespace troupe {

result<envelope> read_envelope(std::span<const std::byte> bytes) {
  return read_root<result<envelope>>(bytes, [](wire::Envelope::Reader from) -> result<envelope> {
    envelope parsed;
    switch (from.which()) {
      case wire::Envelope::DEREGISTER_GRAPH:
      case wire::Envelope::CONTAINER_RESET:
      case wire::Envelope::GOODBYE: parsed.order = delivery::ordered; break;
      case wire::Envelope::HELLO:
      case wire::Envelope::REFUSAL:
      case wire::Envelope::CANCEL_STEP:
      case wire::Envelope::PULL:
      case wire::Envelope::UNWANTED:
      case wire::Envelope::WITHDRAWN:
      case wire::Envelope::BORROW:
      case wire::Envelope::LENT:
      case wire::Envelope::RETURNED:
      case wire::Envelope::PING:
      case wire::Envelope::PONG: parsed.order = delivery::urgent; break;
      case wire::Envelope::TENSOR_PUSH:
        parsed.step = step_id{from.getTensorPush().getSession(), from.getTensorPush().getStep()};
        parsed.order = delivery::free;
        break;
      case wire::Envelope::SESSION_REQUEST:
        parsed.order = from.getSessionRequest().isStop() ? delivery::urgent : delivery::free;
        break;
      case wire::Envelope::REGISTER_REPLY:
      case wire::Envelope::SETTLE_STEP:
      case wire::Envelope::REPLY:
      case wire::Envelope::DEVICE_LIST_REQUEST:
      case wire::Envelope::DEVICE_LIST_REPLY:
      case wire::Envelope::STATE_LIST_REQUEST:
      case wire::Envelope::NUMBER_CLAIM:
      case wire::Envelope::NUMBER_GRANT:
      case wire::Envelope::INSPECT_REQUEST:
      case wire::Envelope::DRAIN_REQUEST:
      case wire::Envelope::FILL_END:
      case wire::Envelope::PROGRAM_LOST:
      case wire::Envelope::CLIENT_WAITS:
        if (from.getOutside().size() > 0) // before the payloads are pulled
          return damaged_message("a message of a kind without tensors announces payloads");
        [[fallthrough]];
      default: parsed.order = delivery::free; break;
    }
    for (auto size : from.getOutside())
      parsed.payload_sizes.push_back(size);
    return parsed;
  });
}

} // namespace troupe
