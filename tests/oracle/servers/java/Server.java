import com.google.gson.Gson;
import io.grpc.HandlerRegistry;
import io.grpc.InsecureServerCredentials;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.ServerMethodDefinition;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.xds.XdsServerBuilder;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.util.Map;

/** An xDS server that says on standard output, one JSON line each, in which mode it is and why. Its argument is HOST:PORT; only the port counts. */
public final class Server {
  private static void say(String mode, Object words) {
    System.out.println(new Gson().toJson(Map.of("mode", mode, "words", words == null ? "" : String.valueOf(words))));
  }

  private static final MethodDescriptor.Marshaller<byte[]> RAW = new MethodDescriptor.Marshaller<>() {
    @Override public InputStream stream(byte[] value) {
      return new ByteArrayInputStream(value);
    }

    @Override public byte[] parse(InputStream stream) {
      return new byte[0];
    }
  };

  /** Answers every RPC with nothing. */
  private static final HandlerRegistry ANY = new HandlerRegistry() {
    @Override public ServerMethodDefinition<?, ?> lookupMethod(String name, String authority) {
      MethodDescriptor<byte[], byte[]> method = MethodDescriptor.<byte[], byte[]>newBuilder(RAW, RAW)
          .setType(MethodDescriptor.MethodType.UNARY).setFullMethodName(name).build();
      return ServerMethodDefinition.create(method, (call, headers) -> {
        call.request(1);
        return new ServerCall.Listener<byte[]>() {
          @Override public void onHalfClose() {
            call.sendHeaders(new Metadata());
            call.sendMessage(new byte[0]);
            call.close(Status.OK, new Metadata());
          }
        };
      });
    }
  };

  public static void main(String[] args) throws Exception {
    int port = Integer.parseInt(args[0].substring(args[0].lastIndexOf(':') + 1));
    try {
      XdsServerBuilder.forPort(port, InsecureServerCredentials.create())
          .xdsServingStatusListener(new XdsServerBuilder.XdsServingStatusListener() {
            @Override public void onServing() {
              say("SERVING", null);
            }

            @Override public void onNotServing(Throwable why) {
              say("NOT_SERVING", why.getMessage());
            }
          }).fallbackHandlerRegistry(ANY).build().start().awaitTermination();
    } catch (Exception e) {
      say("ENDED", e);
      Runtime.getRuntime().halt(1);
    }
  }
}
