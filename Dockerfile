# thali and its app, for a user without rights. Linted by hadolint; the project's CI does not build it.
#   docker build -t thali .
#   docker run --rm -p 8000:8000 -v "$PWD:/home/thali/work" thali
FROM python:3.13-slim
RUN useradd --create-home --uid 1000 thali
COPY --chown=thali . /tmp/thali
RUN pip install --no-cache-dir '/tmp/thali[app,files]' && rm -rf /tmp/thali
USER 1000
WORKDIR /home/thali/work
ENV NUMBA_CACHE_DIR=/home/thali/.cache/thali
EXPOSE 8000
CMD ["thali", "app", "--host", "0.0.0.0", "--port", "8000", "--no-browser"]
