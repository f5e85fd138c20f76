import com.google.gson.Gson;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Map;

/** What grpc-java says of bootstraps, each read anew: a file's path a line in, {"error"} or {} a line out (see bootstraps.py). */
public final class Bootstraps {
  private static Class<?> reader() throws ClassNotFoundException {
    try {
      return Class.forName("io.grpc.xds.GrpcBootstrapperImpl");
    } catch (ClassNotFoundException e) {
      return Class.forName("io.grpc.xds.BootstrapperImpl"); // An older release.
    }
  }

  public static void main(String[] args) throws Exception {
    // Older releases look at the property once: it names one file, whose content changes.
    Path place = Files.createTempFile("bootstrap", ".json");
    place.toFile().deleteOnExit();
    System.setProperty("io.grpc.xds.bootstrap", place.toString());
    Constructor<?> make = reader().getDeclaredConstructor();
    make.setAccessible(true);
    Method read = reader().getMethod("bootstrap");
    read.setAccessible(true);
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      Files.copy(Path.of(line), place, StandardCopyOption.REPLACE_EXISTING);
      Map<String, String> answer = Map.of();
      try {
        read.invoke(make.newInstance());
      } catch (InvocationTargetException e) {
        answer = Map.of("error", String.valueOf(e.getCause()));
      }
      System.out.println(new Gson().toJson(answer));
    }
  }
}
