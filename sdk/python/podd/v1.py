"""The messages, enums and services of podd.v1, made from its protocol when this module is imported.

v1.pyi has their types; a value of an enum is without the enum's name, as in Outcome.FINISHED.
"""
import enum
import pathlib
import re

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf import duration_pb2, field_mask_pb2, timestamp_pb2  # noqa: F401 -- the protocol needs them

_PACKAGE = "podd.v1"
_pool = descriptor_pool.Default()
# protobuf 4.22 has the function, older ones the method.
_class_of = getattr(message_factory, "GetMessageClass", None) or message_factory.MessageFactory(_pool).GetPrototype


def _class(full_name: str) -> type:
    return _class_of(_pool.FindMessageTypeByName(full_name.lstrip(".")))


def _enum(of: descriptor_pb2.EnumDescriptorProto) -> enum.IntEnum:
    prefix = re.sub("(?<!^)(?=[A-Z])", "_", of.name).upper() + "_"
    return enum.IntEnum(of.name, {value.name.removeprefix(prefix): value.number for value in of.value})


def _service(of: descriptor_pb2.ServiceDescriptorProto) -> type:
    def __init__(self, channel):
        for method in of.method:
            make = channel.unary_stream if method.server_streaming else channel.unary_unary
            setattr(self, method.name, make(
                f"/{_PACKAGE}.{of.name}/{method.name}",
                request_serializer=_class(method.input_type).SerializeToString,
                response_deserializer=_class(method.output_type).FromString,
            ))
    return type(of.name, (), {"__init__": __init__})


def _load() -> None:
    files = descriptor_pb2.FileDescriptorSet.FromString(pathlib.Path(__file__).with_name("v1.binpb").read_bytes()).file
    ours = [file for file in files if file.package == _PACKAGE]
    for file in ours:
        _pool.AddSerializedFile(file.SerializeToString())
    for file in ours:
        globals().update({m.name: _class(f"{_PACKAGE}.{m.name}") for m in file.message_type})
        globals().update({e.name: _enum(e) for e in file.enum_type})
        globals().update({s.name: _service(s) for s in file.service})


_load()
